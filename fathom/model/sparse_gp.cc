#include "fathom/model/sparse_gp.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

namespace {

void PrepareForm(const Whitened& q, const Cavity& cavity, double jitter, PreparedGp* out) {
  out->jitter =
      FactorGram(out->K, jitter, &out->whitened.scratch1, &out->whitened.scratch2, &out->L_inverse);
  Condition(q, out->L_inverse, cavity.scale(), &out->whitened, &out->cavity);
  out->energy = cavity.alpha == 0 ? NegativeKl(q) : FactorEnergy(q, out->whitened);
}

void PrepareForm(const Sites& q, const Cavity& cavity, double /*jitter*/, PreparedGp* out) {
  out->jitter = 0;
  Condition(q, out->K, cavity.scale(), &out->sites, &out->cavity);
  out->energy = FactorEnergy(q, &out->sites);
}

void BackwardForm(const Whitened& q, const Cavity& cavity, PreparedGp* prepared, Whitened* d_q) {
  if (cavity.alpha == 0) {
    NegativeKlBackward(q, d_q);
  } else {
    FactorEnergyBackward(q, &prepared->whitened, d_q);
  }
  ConditionBackward(q, prepared->L_inverse, prepared->d_cavity, &prepared->whitened, d_q,
                    &prepared->dK);
  FactorGramBackward(prepared->L_inverse, prepared->jitter, &prepared->dK,
                     &prepared->whitened.scratch1);
}

void BackwardForm(const Sites& q, const Cavity& /*cavity*/, PreparedGp* prepared, Sites* d_q) {
  SitesBackward(q, prepared->K, prepared->cavity, prepared->d_cavity, &prepared->sites, d_q,
                &prepared->dK);
}

}  // namespace

void AddJitter(double jitter, Matrix* K) { K->diagonal().array() += jitter * K->diagonal().mean(); }

double FactorGram(const Matrix& K, double jitter, Matrix* L, Matrix* scratch, Matrix* L_inverse) {
  for (double tried = jitter; tried <= 1e-2; tried = tried > 0 ? 10 * tried : 1e-10) {
    *L = K;
    AddJitter(tried, L);
    if (CholeskyWithInverse(L, L_inverse, scratch)) return tried;
  }
  throw NumericalError("a kernel matrix is not positive definite, even with jitter 1e-2");
}

void FactorGramBackward(const Matrix& L_inverse, double jitter, Matrix* phi_argument,
                        Matrix* scratch) {
  CholeskyBackwardInPlace(L_inverse, phi_argument, scratch);
  // AddJitter backward: every diagonal element raised all of them.
  phi_argument->diagonal().array() += jitter * phi_argument->diagonal().mean();
}

void SparseGp::SetLengthscales(const Vector& lengthscales) {
  Index begin = 0;
  for (const Kernel::Block& block : kernel->Blocks(input_dim())) {
    // Those of a sum are called "se_ard.lengthscales".
    if (block.name.ends_with("lengthscales")) theta.segment(begin, block.size) = lengthscales;
    begin += block.size;
  }
}

void SparseGp::SetZero() {
  theta.setZero();
  Z.setZero();
  if (auto* sites = std::get_if<Sites>(&posterior)) {
    sites->h.setZero();
    sites->R.setZero();
  } else {
    std::get<Whitened>(posterior).mu.setZero();
    std::get<Whitened>(posterior).Delta.setZero();
  }
}

void Prepare(const SparseGp& gp, const Cavity& cavity, double jitter, PreparedGp* out) {
  gp.kernel->Gram(gp.theta, gp.Z, &out->K, &out->kernel_scratch);
  std::visit([&](const auto& q) { PrepareForm(q, cavity, jitter, out); }, gp.posterior);
}

void PrepareBackward(const SparseGp& gp, const Cavity& cavity, PreparedGp* prepared,
                     SparseGp* d_gp) {
  std::visit(
      [&](const auto& q) {
        using Form = std::decay_t<decltype(q)>;
        BackwardForm(q, cavity, prepared, &std::get<Form>(d_gp->posterior));
      },
      gp.posterior);
  gp.kernel->GramBackward(gp.theta, gp.Z, prepared->K, prepared->dK, {d_gp->theta, d_gp->Z},
                          &prepared->kernel_scratch);
}

Whitened ToWhitened(const Sites& sites, const Matrix& K, double jitter) {
  // v has precision I + L'TL = P P' and mean (P P')^-1 L'h.
  Matrix L = K;
  AddJitter(jitter, &L);
  if (!CholeskyInPlace(&L)) throw NumericalError("the kernel matrix is not positive definite");
  const Matrix LR = Product(LowerTransposed(L), {sites.R});
  Matrix precision = Product({LR}, Transposed(LR));
  precision.diagonal().array() += 1;
  FATHOM_CHECK(CholeskyInPlace(&precision));
  InvertLowerInPlace(&precision);
  Matrix covariance = Product(LowerTransposed(precision), Lower(precision));
  Whitened out;
  const Vector natural_mean = L.transpose() * sites.h;
  out.mu = covariance * natural_mean;
  out.Delta = std::move(covariance);
  FATHOM_CHECK(CholeskyInPlace(&out.Delta));
  return out;
}

Sites ToSites(const Whitened& whitened, const Matrix& K, double jitter) {
  Matrix L_inverse = K;
  AddJitter(jitter, &L_inverse);
  if (!CholeskyInPlace(&L_inverse))
    throw NumericalError("the kernel matrix is not positive definite");
  InvertLowerInPlace(&L_inverse);
  Matrix Delta_inverse = whitened.Delta;
  InvertLowerInPlace(&Delta_inverse);
  Matrix precision = Product(LowerTransposed(Delta_inverse), Lower(Delta_inverse));
  const Vector natural_mean = precision * whitened.mu;
  precision.diagonal().array() -= 1;
  Sites out;
  out.R = Product({Product(LowerTransposed(L_inverse), {precision})}, Lower(L_inverse));
  out.h = L_inverse.transpose() * natural_mean;
  if (!CholeskyInPlace(&out.R)) {
    throw NumericalError("this posterior has no site form: its factor is not positive definite");
  }
  return out;
}

}  // namespace fathom
