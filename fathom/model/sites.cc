#include "fathom/model/sites.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

Conditioned Condition(const Sites& sites, const Matrix& K, double c, SitesTape* tape) {
  const Index M = K.rows();
  FATHOM_CHECK(sites.R.rows() == M && sites.h.size() == M);
  Matrix KR = K * sites.R.triangularView<Eigen::Lower>();
  Matrix G = sites.R.transpose().triangularView<Eigen::Upper>() * KR;
  G *= c;
  G.diagonal().array() += 1;
  if (!CholeskyInPlace(&G))
    throw NumericalError("the posterior of a latent function is not finite");
  Conditioned out;
  out.phi = -0.5 * LogDeterminant(G);
  InvertLowerInPlace(&G);
  // S = c Y'Y with Y = C^-1 R'.
  const Matrix Y = G.triangularView<Eigen::Lower>() * sites.R.transpose();
  out.S.setZero(M, M);
  out.S.noalias() = c * (Y.transpose() * Y);
  const Vector u = K * sites.h;
  out.a = c * (sites.h - out.S * u);
  out.phi += 0.5 * c * u.dot(out.a);
  if (tape != nullptr) {
    tape->c = c;
    tape->C_inverse = std::move(G);
    tape->u = u;
  }
  return out;
}

void ConditionBackward(const Sites& sites, const Matrix& K, const Conditioned& conditioned,
                       const SitesTape& tape, const Conditioned& d_conditioned, Sites* d_sites,
                       Matrix* dK) {
  const double c = tape.c;
  const Vector da = d_conditioned.a + 0.5 * c * d_conditioned.phi * tape.u;
  const Vector du = 0.5 * c * d_conditioned.phi * conditioned.a - c * (conditioned.S * da);
  d_sites->h += c * da + K * du;
  *dK += 0.5 * (du * sites.h.transpose() + sites.h * du.transpose());
  const Matrix dS = d_conditioned.S - 0.5 * c * (da * tape.u.transpose() + tape.u * da.transpose());
  // X = G^-1 = C^-T C^-1;  S = c R X R';  G = I + c R'KR.
  const Matrix X = tape.C_inverse.transpose().triangularView<Eigen::Upper>() * tape.C_inverse;
  const Matrix dS_R = dS * sites.R.triangularView<Eigen::Lower>();
  const Matrix dX_c = sites.R.transpose().triangularView<Eigen::Upper>() * dS_R;  // dX / c
  const Matrix dG = -c * (X * dX_c * X) - 0.5 * d_conditioned.phi * X;
  const Matrix R_dG = sites.R.triangularView<Eigen::Lower>() * dG;
  const Matrix R_dG_R = R_dG * sites.R.transpose().triangularView<Eigen::Upper>();
  *dK += c * R_dG_R;
  Matrix dR = dS_R * X;
  dR.noalias() += K * R_dG;
  d_sites->R += 2 * c * Matrix(dR.triangularView<Eigen::Lower>());
}

double NegativeKl(const Matrix& K, const Conditioned& posterior, const SitesTape& tape) {
  // -1/2 log|G| = phi - 1/2 u'a at c = 1.
  return posterior.phi - 0.5 * tape.u.dot(posterior.a) +
         0.5 * (posterior.S.cwiseProduct(K).sum() - posterior.a.dot(K * posterior.a));
}

void NegativeKlBackward(const Sites& sites, const Matrix& K, const Conditioned& posterior,
                        const SitesTape& tape, Conditioned* d_posterior, Sites* d_sites,
                        Matrix* dK) {
  const Vector Ka = K * posterior.a;
  d_posterior->phi += 1;
  d_posterior->a -= 0.5 * tape.u + Ka;
  d_posterior->S += 0.5 * K;
  d_sites->h -= 0.5 * Ka;
  const Vector mixed = 0.5 * (posterior.a + sites.h);
  *dK +=
      0.5 * posterior.S - 0.5 * (posterior.a * mixed.transpose() + mixed * posterior.a.transpose());
}

}  // namespace fathom
