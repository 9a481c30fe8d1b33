#include "fathom/model/sparse_gp.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

namespace {

// L^-1 of K with its diagonal raised; the jitter that did it.
double FactorGram(const Matrix& K, double jitter, Matrix* L_inverse) {
  for (double tried = jitter; tried <= 1e-2; tried = tried > 0 ? 10 * tried : 1e-10) {
    *L_inverse = K;
    L_inverse->diagonal() *= 1 + tried;
    if (CholeskyInPlace(L_inverse)) {
      InvertLowerInPlace(L_inverse);
      return tried;
    }
  }
  throw NumericalError("a kernel matrix is not positive definite, even with jitter 1e-2");
}

Conditioned PhiOnly(Index M, double d_phi) {
  Conditioned d;
  d.SetZero(M);
  d.phi = d_phi;
  return d;
}

void PrepareForm(const Whitened& q, const Cavity& cavity, double jitter, PreparedGp* out) {
  out->jitter = FactorGram(out->K, jitter, &out->L_inverse);
  out->cavity = Condition(q, out->L_inverse, cavity.scale(), &out->whitened);
  out->energy = cavity.alpha == 0 ? NegativeKl(q)
                                  : (1 - cavity.N / cavity.alpha) * LogPartition(q) +
                                        cavity.N / cavity.alpha * out->cavity.phi;
}

void PrepareForm(const Sites& q, const Cavity& cavity, double /*jitter*/, PreparedGp* out) {
  out->jitter = 0;
  out->cavity = Condition(q, out->K, cavity.scale(), &out->sites);
  if (cavity.alpha == 0) {
    out->energy = NegativeKl(out->K, out->cavity, out->sites);
    return;
  }
  out->posterior = Condition(q, out->K, 1, &out->sites_posterior);
  out->energy = (1 - cavity.N / cavity.alpha) * out->posterior.phi +
                cavity.N / cavity.alpha * out->cavity.phi;
}

void BackwardForm(const Whitened& q, const Cavity& cavity, const PreparedGp& prepared,
                  Conditioned d_cavity, Whitened* d_q, Matrix* dK) {
  if (cavity.alpha == 0) {
    d_cavity.phi = 0;
    NegativeKlBackward(q, d_q);
  } else {
    d_cavity.phi = cavity.N / cavity.alpha;
    LogPartitionBackward(q, 1 - cavity.N / cavity.alpha, d_q);
  }
  Matrix phi_argument = Matrix::Zero(dK->rows(), dK->cols());
  ConditionBackward(q, prepared.L_inverse, prepared.whitened, d_cavity, d_q, &phi_argument);
  Matrix d_jittered = CholeskyBackward(prepared.L_inverse, phi_argument);
  d_jittered.diagonal() *= 1 + prepared.jitter;
  *dK += d_jittered;
}

void BackwardForm(const Sites& q, const Cavity& cavity, const PreparedGp& prepared,
                  Conditioned d_cavity, Sites* d_q, Matrix* dK) {
  const Index M = prepared.K.rows();
  if (cavity.alpha == 0) {
    d_cavity.phi = 0;
    NegativeKlBackward(q, prepared.K, prepared.cavity, prepared.sites, &d_cavity, d_q, dK);
  } else {
    d_cavity.phi = cavity.N / cavity.alpha;
    ConditionBackward(q, prepared.K, prepared.posterior, prepared.sites_posterior,
                      PhiOnly(M, 1 - cavity.N / cavity.alpha), d_q, dK);
  }
  ConditionBackward(q, prepared.K, prepared.cavity, prepared.sites, d_cavity, d_q, dK);
}

}  // namespace

SparseGp SparseGp::ZeroLike() const {
  SparseGp zero{kernel, Vector::Zero(theta.size()), Matrix::Zero(Z.rows(), Z.cols()), {}};
  const Index M = num_inducing();
  if (std::holds_alternative<Sites>(posterior)) {
    zero.posterior = Sites{Vector::Zero(M), Matrix::Zero(M, M)};
  } else {
    zero.posterior = Whitened{Vector::Zero(M), Matrix::Zero(M, M)};
  }
  return zero;
}

void Prepare(const SparseGp& gp, const Cavity& cavity, double jitter, PreparedGp* out) {
  gp.kernel->Gram(gp.theta, gp.Z, &out->K);
  std::visit([&](const auto& q) { PrepareForm(q, cavity, jitter, out); }, gp.posterior);
}

void PrepareBackward(const SparseGp& gp, const Cavity& cavity, const PreparedGp& prepared,
                     const Conditioned& d_cavity, SparseGp* d_gp) {
  Matrix dK = Matrix::Zero(prepared.K.rows(), prepared.K.cols());
  std::visit(
      [&](const auto& q) {
        using Form = std::decay_t<decltype(q)>;
        BackwardForm(q, cavity, prepared, d_cavity, &std::get<Form>(d_gp->posterior), &dK);
      },
      gp.posterior);
  gp.kernel->GramBackward(gp.theta, gp.Z, prepared.K, dK, &d_gp->theta, &d_gp->Z);
}

Whitened ToWhitened(const Sites& sites, const Matrix& K, double jitter) {
  // v has precision I + L'TL = P P' and mean (P P')^-1 L'h.
  Matrix L = K;
  L.diagonal() *= 1 + jitter;
  if (!CholeskyInPlace(&L)) throw NumericalError("the kernel matrix is not positive definite");
  const Matrix LR = L.transpose() * sites.R;
  Matrix precision = LR * LR.transpose();
  precision.diagonal().array() += 1;
  FATHOM_CHECK(CholeskyInPlace(&precision));
  InvertLowerInPlace(&precision);
  Matrix covariance = precision.transpose() * precision;
  Whitened out;
  out.mu = covariance * (L.transpose() * sites.h);
  out.Delta = std::move(covariance);
  FATHOM_CHECK(CholeskyInPlace(&out.Delta));
  return out;
}

Sites ToSites(const Whitened& whitened, const Matrix& K, double jitter) {
  Matrix L_inverse = K;
  L_inverse.diagonal() *= 1 + jitter;
  if (!CholeskyInPlace(&L_inverse))
    throw NumericalError("the kernel matrix is not positive definite");
  InvertLowerInPlace(&L_inverse);
  Matrix Delta_inverse = whitened.Delta;
  InvertLowerInPlace(&Delta_inverse);
  Matrix precision = Delta_inverse.transpose() * Delta_inverse;
  const Vector natural_mean = precision * whitened.mu;
  precision.diagonal().array() -= 1;
  Sites out;
  out.R = L_inverse.transpose() * precision * L_inverse;
  out.h = L_inverse.transpose() * natural_mean;
  if (!CholeskyInPlace(&out.R)) {
    throw NumericalError("this posterior has no site form: its factor is not positive definite");
  }
  return out;
}

}  // namespace fathom
