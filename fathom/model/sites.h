// The site form of a sparse GP's posterior: prior times a Gaussian factor,
//   q(u) ∝ N(u; 0, K) exp(-1/2 u'Tu + u'h),   T = N Lambda = R R',  h = N eta.
// It is exact for any factor R and needs no inverse of K and no jitter: the eigenvalues of G are at
// least 1. With a scale c (c = 1 the posterior, c = 1 - alpha/N the cavity):
//   G   = I + c R'KR                                                                      [sites-g]
//   S   = c R G^-1 R'
//   a   = c (I + c T K)^-1 h = c (h - S K h)
//   phi = -1/2 log|G| + 1/2 c h'K a
// EP, SEP and the reference numbers speak this form.
#ifndef FATHOM_MODEL_SITES_H_
#define FATHOM_MODEL_SITES_H_

#include "fathom/model/conditioned.h"

namespace fathom {

struct Sites {
  Vector h;  // [M]
  Matrix R;  // [M, M], lower triangular

  static Sites Prior(Index M) { return {Vector::Zero(M), Matrix::Zero(M, M)}; }
};

struct SitesTape {
  double c = 1;
  double log_det_G = 0;
  Matrix G_inverse;
};

Conditioned Condition(const Sites& sites, const Matrix& K, double c, SitesTape* tape);
// What Condition gave for one scale.
struct SitesAt {
  const Conditioned& conditioned;
  const SitesTape& tape;
};
// d_conditioned.S is symmetric. Adds to *d_sites and *dK (symmetric).
void ConditionBackward(const Sites& sites, const Matrix& K, const SitesAt& at,
                       const Conditioned& d_conditioned, Sites* d_sites, Matrix* dK);

// (1 - k) phi(posterior) + k phi(cavity), k = N/alpha = 1 / (1 - c) with the cavity's c < 1. Both
// phi grow with the factor and their difference hardly does; in the energy that part cancels
// beforehand: with a of the posterior and b of the cavity,
//   -1/2 log|G| - k/2 log|I - (I - G^-1)/k| - 1/2 a'K b                              [sites-energy]
// where G is the posterior's. A factor of 1e8 (N = 3) cost 4.7 of it in the first form; here it
// costs nothing (tested).
double FactorEnergy(const Matrix& K, const SitesAt& posterior, const SitesAt& cavity);
// -KL(q || prior), the limit of this for alpha -> 0, where the cavity is the posterior:
//   1/2 [tr(SK) - a'Ka - log|G|]                                                         [sites-kl]
double NegativeKl(const Matrix& K, const SitesAt& posterior);
// The gradient of both (of NegativeKl with the posterior twice). With G_b of the cavity, c its
// scale,
//   w = (I + T K)^-1 b,   e = K w,   mean = (a + b)/2:                      [sites-energy-backward]
//   dh = -e,   dR = -c K R (I - G^-1) G_b^-1 + (e mean'K + K mean e') R,
//   dK = 1/2 [b b' - w mean' - mean w' - R G^-1 (I - G_b^-1) R'].
// Adds to *d_sites and *dK (symmetric).
void FactorEnergyBackward(const Sites& sites, const Matrix& K, const SitesAt& posterior,
                          const SitesAt& cavity, Sites* d_sites, Matrix* dK);

}  // namespace fathom

#endif  // FATHOM_MODEL_SITES_H_
