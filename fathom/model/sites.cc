#include "fathom/model/sites.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

namespace {

// X = (I + c T K)^-1 B = B - S K B. Where the factor is large this is a difference of large
// numbers; one step of iterative refinement brings the digits back that it loses.
template <typename Dense>
Dense Shrink(const Sites& sites, const Matrix& K, const Matrix& S, double c, const Dense& B) {
  Dense X = B - S * (K * B);
  const Dense KX = K * X;
  const Dense RKX = sites.R.transpose() * KX;
  const Dense rest = B - X - c * (sites.R * RKX);
  X += rest - S * (K * rest);
  return X;
}

// The same from the other side: (I + c K T)^-1 B = B - K S B.
template <typename Dense>
Dense ShrinkTransposed(const Sites& sites, const Matrix& K, const Matrix& S, double c,
                       const Dense& B) {
  Dense X = B - K * (S * B);
  const Dense TX = sites.R * (sites.R.transpose() * X);
  const Dense rest = B - X - c * (K * TX);
  X += rest - K * (S * rest);
  return X;
}

Matrix LowerOf(const Matrix& A) { return A.triangularView<Eigen::Lower>(); }

}  // namespace

Conditioned Condition(const Sites& sites, const Matrix& K, double c, SitesTape* tape) {
  const Index M = K.rows();
  FATHOM_CHECK(sites.R.rows() == M && sites.h.size() == M);
  const Matrix KR = K * sites.R.triangularView<Eigen::Lower>();
  Matrix G = sites.R.transpose().triangularView<Eigen::Upper>() * KR;
  G *= c;
  G.diagonal().array() += 1;
  if (!CholeskyInPlace(&G))
    throw NumericalError("the posterior of a latent function is not finite");
  Conditioned out;
  const double log_det_G = LogDeterminant(G);
  InvertLowerInPlace(&G);
  // S = c Y'Y with Y = C^-1 R', G = C C'.
  const Matrix Y = G.triangularView<Eigen::Lower>() * sites.R.transpose();
  out.S.setZero(M, M);
  out.S.noalias() = c * (Y.transpose() * Y);
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
  const Vector m = K * a;
  const Vector w = ShrinkTransposed(sites, K, S, c, d_conditioned.a);
  d_sites->h += c * (w + d_phi * m);

  const Matrix RG = sites.R.triangularView<Eigen::Lower>() * at.tape.G_inverse;
  const Matrix dS_RG = d_conditioned.S * RG;
  Matrix dR = 2 * ShrinkTransposed(sites, K, S, c, dS_RG);
  if (d_phi != 0) dR.noalias() -= d_phi * (K * RG);
  const Vector w_phi = w + d_phi * m;
  const Eigen::RowVectorXd mR = m.transpose() * sites.R;
  const Eigen::RowVectorXd wR = w.transpose() * sites.R;
  dR -= w_phi * mR + m * wR;
  d_sites->R += c * LowerOf(dR);

  const Vector s = S * d_conditioned.a;
  *dK -= 0.5 * (s * a.transpose() + a * s.transpose());
  *dK -= S * d_conditioned.S * S;
  *dK += 0.5 * d_phi * (a * a.transpose() - S);
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
  const auto R = sites.R.triangularView<Eigen::Lower>();
  const Matrix& G_inverse = posterior.tape.G_inverse;
  const Matrix& Gb_inverse = cavity.tape.G_inverse;
  const Matrix I = Matrix::Identity(K.rows(), K.rows());
  const Vector& b = cavity.conditioned.a;
  const Vector w = Shrink(sites, K, posterior.conditioned.S, 1, b);
  const Vector e = K * w;
  const Vector mean = 0.5 * (posterior.conditioned.a + b);
  const Vector K_mean = K * mean;
  d_sites->h -= e;

  const Matrix KR = K * R;
  Matrix dR = -cavity.tape.c * (KR * ((I - G_inverse) * Gb_inverse));
  dR += e * (K_mean.transpose() * sites.R) + K_mean * (e.transpose() * sites.R);
  d_sites->R += LowerOf(dR);

  const Matrix inner = R * Symmetrized(G_inverse * (I - Gb_inverse));
  *dK += 0.5 * (b * b.transpose() - w * mean.transpose() - mean * w.transpose() -
                inner * sites.R.transpose());
}

}  // namespace fathom
