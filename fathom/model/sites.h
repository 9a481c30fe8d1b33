// The site form of a sparse GP's posterior: prior times a Gaussian factor,
//   q(u) ∝ N(u; 0, K) exp(-1/2 u'Tu + u'h),   T = N Lambda = R R',  h = N eta.
// It is exact for any factor R and needs no inverse of K and no jitter: the eigenvalues of G are at
// least 1. With a scale c (c = 1 the posterior, c = 1 - alpha/N the cavity):
//   G   = I + c R'KR = C C'                                                               [sites-g]
//   S   = c R G^-1 R' = c Y'Y,   Y = C^-1 R'
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

// G of one scale, and a.
struct ScaledSites {
  double c = 1;
  double log_det_G = 0;
  Matrix C_inverse, G_inverse;
  Vector a;
};

// Of a cavity, and of the posterior if that is another one. KR and R'KR serve both.
struct SitesTape {
  Matrix KR;
  Matrix RKR;  // lower triangle
  Matrix Y;    // the cavity's
  ScaledSites cavity;
  ScaledSites posterior;  // FactorEnergy fills it
  Vector K_cavity_a;
  Matrix scratch1, scratch2;

  const ScaledSites& AtPosterior() const { return cavity.c == 1 ? cavity : posterior; }
};

void Condition(const Sites& sites, const Matrix& K, double c, SitesTape* tape, Conditioned* out);
Conditioned Condition(const Sites& sites, const Matrix& K, double c);

// (1 - k) phi(posterior) + k phi(cavity), k = N/alpha = 1 / (1 - c). Both phi grow with the factor
// and their difference hardly does; in the energy that part cancels beforehand: with a of the
// posterior and b of the cavity,
//   -1/2 log|G| - k/2 log|I - (I - G^-1)/k| - 1/2 a'K b                              [sites-energy]
// where G is the posterior's. A factor of 1e8 (N = 3) cost 4.7 of it in the first form; here it
// costs nothing (tested). For c = 1 (alpha = 0) the limit, -KL(q || prior):
//   1/2 [tr(I - G^-1) - a'K a - log|G|]                                                  [sites-kl]
double FactorEnergy(const Sites& sites, SitesTape* tape);

// The gradient of FactorEnergy + d_cavity.a'a + <d_cavity.S, S>, added to *d_sites and set in
// *dK. d_cavity.S is symmetric. With G_b, Y and c of the cavity,
//   B = dS R G_b^-1,   H = (R G_b^-1)' B,   E = G^-1 (I - G_b^-1) = c (I - G^-1) G_b^-1,
//   w = (I + T K)^-1 b,   mean = (a + b)/2,   s = (I + c K T)^-1 da:              [sites-backward]
//   dh = c s - K w
//   dR = 2 c B - K R (2 c^2 H + E) + (K w mean'K + K mean w'K - c (s b'K + K b s')) R
//   dK = 1/2 [b b' - w mean' - mean w' - S da b' - b da'S - R (2 c^2 H + E) R'].
void SitesBackward(const Sites& sites, const Matrix& K, const Conditioned& cavity,
                   const Conditioned& d_cavity, SitesTape* tape, Sites* d_sites, Matrix* dK);

}  // namespace fathom

#endif  // FATHOM_MODEL_SITES_H_
