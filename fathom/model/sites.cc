#include "fathom/model/sites.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

namespace {

Matrix Times(const Matrix& A, const Matrix& B) { return Product({A}, {B}); }
Vector Times(const Matrix& A, const Vector& b) { return A * b; }
Matrix TransposeTimes(const Matrix& A, const Matrix& B) { return Product(Transposed(A), {B}); }
Vector TransposeTimes(const Matrix& A, const Vector& b) { return A.transpose() * b; }

// X = (I + c T K)^-1 B = B - S K B. Where the factor is large this is a difference of large
// numbers; one step of iterative refinement brings the digits back that it loses.
Vector Shrink(const Sites& sites, const Matrix& K, const Matrix& S, double c, const Vector& B) {
  Vector X = B - Times(S, Times(K, B));
  const Vector RKX = TransposeTimes(sites.R, Times(K, X));
  const Vector rest = B - X - c * Times(sites.R, RKX);
  X += rest - Times(S, Times(K, rest));
  return X;
}

// The same from the other side: (I + c K T)^-1 B = B - K S B.
template <typename Dense>
Dense ShrinkTransposed(const Sites& sites, const Matrix& K, const Matrix& S, double c,
                       const Dense& B) {
  Dense X = B - Times(K, Times(S, B));
  const Dense TX = Times(sites.R, TransposeTimes(sites.R, X));
  const Dense rest = B - X - c * Times(K, TX);
  X += rest - Times(K, Times(S, rest));
  return X;
}

// *out += c times the lower triangle of A.
void AddLower(double c, const Matrix& A, Matrix* out) {
  for (Index i = 0; i < A.rows(); ++i) out->row(i).head(i + 1) += c * A.row(i).head(i + 1);
}

// *out += c (x y' + y x').
void AddOuters(double c, const Vector& x, const Vector& y, Matrix* out) {
  for (Index i = 0; i < x.size(); ++i)
    out->row(i) += (c * x[i]) * y.transpose() + (c * y[i]) * x.transpose();
}

}  // namespace

Conditioned Condition(const Sites& sites, const Matrix& K, double c, SitesTape* tape) {
  const Index M = K.rows();
  FATHOM_CHECK(sites.R.rows() == M && sites.h.size() == M);
  const Matrix KR = Product({K}, Lower(sites.R));
  Matrix G = c * Product(LowerTransposed(sites.R), {KR});
  G.diagonal().array() += 1;
  if (!CholeskyInPlace(&G))
    throw NumericalError("the posterior of a latent function is not finite");
  Conditioned out;
  const double log_det_G = LogDeterminant(G);
  InvertLowerInPlace(&G);
  // S = c Y'Y with Y = C^-1 R', G = C C'.
  const Matrix Y = Product(Lower(G), LowerTransposed(sites.R));
  out.S = c * TransposeTimes(Y, Y);
  out.a = c * Shrink(sites, K, out.S, c, sites.h);
  out.phi = -0.5 * log_det_G + 0.5 * c * sites.h.dot(K * out.a);
  if (tape != nullptr) {
    tape->c = c;
    tape->log_det_G = log_det_G;
    TransposeTimesSelf(G, &tape->G_inverse);
  }
  return out;
}

// With V = K - K S K, m = K a and w = (I + c K T)^-1 da:
//   h: c w   R: -c (w m' + m w') R   K: -1/2 (S da a' + a da'S)       through a,
//            R: 2 c (I - K S) dS R G^-1   K: -S dS S                  through S,
//   h: c m   R: -c (V + m m') R   K: 1/2 (a a' - S)                   through phi,
// where (I - S K) R = R G^-1 and V R = K R G^-1.
void ConditionBackward(const Sites& sites, const Matrix& K, const SitesAt& at,
                       const Conditioned& d_conditioned, Sites* d_sites, Matrix* dK) {
  const double c = at.tape.c;
  const double d_phi = d_conditioned.phi;
  const Vector& a = at.conditioned.a;
  const Matrix& S = at.conditioned.S;
  const Index M = K.rows();
  const Vector m = K * a;
  const Vector w = ShrinkTransposed(sites, K, S, c, d_conditioned.a);
  d_sites->h += c * (w + d_phi * m);

  const Matrix RG = Product(Lower(sites.R), {at.tape.G_inverse});
  Matrix dR = 2 * ShrinkTransposed(sites, K, S, c, Times(d_conditioned.S, RG));
  if (d_phi != 0) dR -= d_phi * Times(K, RG);
  const Vector w_phi = w + d_phi * m;
  const Vector mR = TransposeTimes(sites.R, m);
  const Vector wR = TransposeTimes(sites.R, w);
  for (Index i = 0; i < M; ++i) dR.row(i) -= w_phi[i] * mR.transpose() + m[i] * wR.transpose();
  AddLower(c, dR, &d_sites->R);

  AddOuters(-0.5, Times(S, d_conditioned.a), a, dK);
  *dK -= Times(Times(S, d_conditioned.S), S);
  AddOuters(0.25 * d_phi, a, a, dK);
  *dK -= 0.5 * d_phi * S;
}

double FactorEnergy(const Matrix& K, const SitesAt& posterior, const SitesAt& cavity) {
  const double share = 1 - cavity.tape.c;  // 1 / k
  Matrix P = share * posterior.tape.G_inverse;
  P.diagonal().array() += cavity.tape.c;
  if (!CholeskyInPlace(&P))
    throw NumericalError("the posterior of a latent function is not finite");
  return -0.5 * posterior.tape.log_det_G - 0.5 * LogDeterminant(P) / share -
         0.5 * cavity.conditioned.a.dot(K * posterior.conditioned.a);
}

double NegativeKl(const Matrix& K, const SitesAt& posterior) {
  const Conditioned& q = posterior.conditioned;
  return 0.5 * (q.S.cwiseProduct(K).sum() - q.a.dot(K * q.a) - posterior.tape.log_det_G);
}

void FactorEnergyBackward(const Sites& sites, const Matrix& K, const SitesAt& posterior,
                          const SitesAt& cavity, Sites* d_sites, Matrix* dK) {
  const Matrix& R = sites.R;
  const Matrix& G_inverse = posterior.tape.G_inverse;
  const Matrix& Gb_inverse = cavity.tape.G_inverse;
  const Matrix I = Matrix::Identity(K.rows(), K.rows());
  const Vector& b = cavity.conditioned.a;
  const Vector w = Shrink(sites, K, posterior.conditioned.S, 1, b);
  const Vector e = K * w;
  const Vector mean = 0.5 * (posterior.conditioned.a + b);
  const Vector K_mean = K * mean;
  d_sites->h -= e;

  const Matrix KR = Product({K}, Lower(R));
  Matrix dR = -cavity.tape.c * Times(KR, Times(I - G_inverse, Gb_inverse));
  const Vector R_mean = TransposeTimes(R, K_mean);
  const Vector Re = TransposeTimes(R, e);
  for (Index i = 0; i < K.rows(); ++i)
    dR.row(i) += e[i] * R_mean.transpose() + K_mean[i] * Re.transpose();
  AddLower(1, dR, &d_sites->R);

  const Matrix inner = Product(Lower(R), {Symmetrized(Times(G_inverse, Matrix(I - Gb_inverse)))});
  AddOuters(0.25, b, b, dK);
  AddOuters(-0.5, w, mean, dK);
  *dK -= 0.5 * Product({inner}, LowerTransposed(R));
}

}  // namespace fathom
