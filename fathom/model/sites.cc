#include "fathom/model/sites.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

namespace {

// A difference that has lost more digits than these is refined.
constexpr double kDigitsToLose = 1e-3;

// X = (I + c T K)^-1 B = B - c R G^-1 (KR)' B. Where the factor is large this is a difference of
// large numbers; one step of iterative refinement brings the digits back that it loses.
Vector Shrink(const Sites& sites, const Matrix& KR, const ScaledSites& at, const Vector& B) {
  const auto once = [&](const Vector& b) -> Vector {
    const Vector inner = at.G_inverse * (KR.transpose() * b);
    return b - at.c * (sites.R * inner);
  };
  Vector X = once(B);
  if (X.norm() > kDigitsToLose * B.norm()) return X;
  const Vector rest = B - X - at.c * (sites.R * (KR.transpose() * X));
  X += once(rest);
  return X;
}

// The same from the other side: (I + c K T)^-1 B = B - c K R G^-1 R' B.
Vector ShrinkTransposed(const Sites& sites, const Matrix& KR, const ScaledSites& at,
                        const Vector& B) {
  const auto once = [&](const Vector& b) -> Vector {
    const Vector inner = at.G_inverse * (sites.R.transpose() * b);
    return b - at.c * (KR * inner);
  };
  Vector X = once(B);
  if (X.norm() > kDigitsToLose * B.norm()) return X;
  const Vector rest = B - X - at.c * (KR * (sites.R.transpose() * X));
  X += once(rest);
  return X;
}

// The lower triangle of 2 c B - K R (2 c^2 H + E) into *out, which holds that of the product. The
// part of B and H is 2 c (I + c K T)^-1 B; it is refined where the difference loses digits.
void SubtractFrom(const Sites& sites, const SitesTape& tape, const Matrix& B, Matrix* out) {
  const Matrix& KR = tape.KR;
  const ScaledSites& at = tape.cavity;
  const ScaledSites& posterior = tape.AtPosterior();
  const double c = at.c;
  double terms = 0;
  double difference = 0;
  for (Index i = 0; i < B.rows(); ++i) {
    const auto B_row = B.row(i).head(i + 1);
    auto row = out->row(i).head(i + 1);
    terms += 4 * c * c * B_row.squaredNorm() + row.squaredNorm();
    row = 2 * c * B_row - row;
    difference += row.squaredNorm();
  }
  if (difference >= kDigitsToLose * kDigitsToLose * terms) return;
  const auto once = [&](const Matrix& b) -> Matrix {
    const Matrix inner = Product({at.G_inverse}, {Product(LowerTransposed(sites.R), {b})});
    return b - c * Product({KR}, {inner});
  };
  Matrix X = once(B);
  const Matrix rest = B - X - c * Product({KR}, {Product(LowerTransposed(sites.R), {X})});
  X += once(rest);
  const Matrix E = posterior.G_inverse - Product({posterior.G_inverse}, {at.G_inverse});
  *out = 2 * c * X - Product({KR}, {E});
}

// G and its inverse at the scale at->c, and a.
void ConditionAt(const Sites& sites, SitesTape* tape, ScaledSites* at) {
  Matrix& G = tape->scratch1;
  G = at->c * tape->RKR;
  G.diagonal().array() += 1;
  if (!CholeskyWithInverse(&G, &at->C_inverse, &tape->scratch2))
    throw NumericalError("the posterior of a latent function is not finite");
  at->log_det_G = LogDeterminant(G);
  TransposeTimesSelf(at->C_inverse, &at->G_inverse);
  at->a = at->c * Shrink(sites, tape->KR, *at, sites.h);
}

}  // namespace

void Condition(const Sites& sites, const Matrix& K, double c, SitesTape* tape, Conditioned* out) {
  const Index M = K.rows();
  FATHOM_CHECK(sites.R.rows() == M && sites.h.size() == M);
  Multiply({K}, Lower(sites.R), Triangle::kWhole, &tape->KR);
  Multiply(LowerTransposed(sites.R), {tape->KR}, Triangle::kLower, &tape->RKR);
  ScaledSites& at = tape->cavity;
  at.c = c;
  ConditionAt(sites, tape, &at);
  Multiply(Lower(at.C_inverse), LowerTransposed(sites.R), Triangle::kWhole, &tape->Y);
  Multiply(Transposed(tape->Y), {tape->Y}, Triangle::kLower, &out->S);
  out->S *= c;
  MirrorLower(&out->S);
  tape->K_cavity_a.noalias() = K * at.a;
  out->a = at.a;
  out->phi = -0.5 * at.log_det_G + 0.5 * c * sites.h.dot(tape->K_cavity_a);
}

Conditioned Condition(const Sites& sites, const Matrix& K, double c) {
  SitesTape tape;
  Conditioned out;
  Condition(sites, K, c, &tape, &out);
  return out;
}

double FactorEnergy(const Sites& sites, SitesTape* tape) {
  const ScaledSites& cavity = tape->cavity;
  const double share = 1 - cavity.c;  // 1 / k
  if (share == 0) {
    const double trace = (1 - cavity.G_inverse.diagonal().array()).sum();
    return 0.5 * (trace - cavity.a.dot(tape->K_cavity_a) - cavity.log_det_G);
  }
  ScaledSites& posterior = tape->posterior;
  posterior.c = 1;
  ConditionAt(sites, tape, &posterior);
  Matrix& P = tape->scratch1;
  P = share * posterior.G_inverse;
  P.diagonal().array() += cavity.c;
  if (!CholeskyInPlace(&P))
    throw NumericalError("the posterior of a latent function is not finite");
  return -0.5 * posterior.log_det_G - 0.5 * LogDeterminant(P) / share -
         0.5 * posterior.a.dot(tape->K_cavity_a);
}

void SitesBackward(const Sites& sites, const Matrix& K, const Conditioned& cavity,
                   const Conditioned& d_cavity, SitesTape* tape, Sites* d_sites, Matrix* dK) {
  const Index M = K.rows();
  const Matrix& R = sites.R;
  const Matrix& KR = tape->KR;
  const ScaledSites& at = tape->cavity;
  const ScaledSites& posterior = tape->AtPosterior();
  const double c = at.c;
  Matrix& RG = tape->scratch1;
  Matrix& B = tape->scratch2;
  Matrix& H = tape->RKR;  // the forward pass is done with it
  Multiply(Transposed(tape->Y), Lower(at.C_inverse), Triangle::kWhole, &RG);
  Multiply({d_cavity.S}, {RG}, Triangle::kWhole, &B);
  Multiply(Transposed(RG), {B}, Triangle::kLower, &H);
  Matrix& GG = tape->scratch1;
  Multiply({posterior.G_inverse}, {at.G_inverse}, Triangle::kLower, &GG);
  Matrix& Z = tape->Y;  // 2 c^2 H + E
  Z = 2 * c * c * H + posterior.G_inverse - GG;
  MirrorLower(&Z);
  Matrix& dR = tape->scratch1;
  Multiply({KR}, {Z}, Triangle::kLower, &dR);
  SubtractFrom(sites, *tape, B, &dR);

  const Vector& b = at.a;
  const Vector& Kb = tape->K_cavity_a;
  const Vector w = Shrink(sites, KR, posterior, b);
  const Vector e = K * w;
  const Vector mean = 0.5 * (posterior.a + b);
  const Vector K_mean = K * mean;
  const Vector s = c * ShrinkTransposed(sites, KR, at, d_cavity.a);
  d_sites->h += s - e;

  const Vector R_mean = KR.transpose() * mean;
  const Vector Re = KR.transpose() * w;
  const Vector Rb = KR.transpose() * b;
  const Vector Rs = R.transpose() * s;
  for (Index i = 0; i < M; ++i) {
    d_sites->R.row(i).head(i + 1) += dR.row(i).head(i + 1) + e[i] * R_mean.head(i + 1).transpose() +
                                     K_mean[i] * Re.head(i + 1).transpose() -
                                     s[i] * Rb.head(i + 1).transpose() -
                                     Kb[i] * Rs.head(i + 1).transpose();
  }

  Matrix& RZ = tape->scratch2;
  Matrix& RZR = *dK;
  Multiply(Lower(R), {Z}, Triangle::kWhole, &RZ);
  Multiply({RZ}, LowerTransposed(R), Triangle::kLower, &RZR);
  const Vector right = 0.5 * b - cavity.S * d_cavity.a;
  for (Index i = 0; i < M; ++i) {
    auto row = RZR.row(i).head(i + 1);
    row = 0.5 * (right[i] * b.head(i + 1).transpose() + b[i] * right.head(i + 1).transpose() -
                 w[i] * mean.head(i + 1).transpose() - mean[i] * w.head(i + 1).transpose() - row);
  }
  MirrorLower(&RZR);
}

}  // namespace fathom
