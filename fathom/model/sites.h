// The site form of a sparse GP's posterior: prior times a Gaussian factor,
//   q(u) ∝ N(u; 0, K) exp(-1/2 u'Tu + u'h),   T = N Lambda = R R',  h = N eta.
// Exact for any factor R, needs no inverse of K and no jitter: the eigenvalues of G are at least 1.
// With a scale c (c = 1 the posterior, c = 1 - alpha/N the cavity):
//   G   = I + c R'KR                                                                      [sites-g]
//   S   = c R G^-1 R'
//   a   = c (h - S K h)
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
  Matrix C_inverse;  // G = C C'
  Vector u;          // K h
};

Conditioned Condition(const Sites& sites, const Matrix& K, double c, SitesTape* tape);
// Adds to *d_sites and *dK (symmetric).
void ConditionBackward(const Sites& sites, const Matrix& K, const Conditioned& conditioned,
                       const SitesTape& tape, const Conditioned& d_conditioned, Sites* d_sites,
                       Matrix* dK);

// -KL(q || prior), the limit of the energy's factor terms for alpha -> 0, from the posterior
// (c = 1):
//   1/2 [tr(SK) - a'Ka - log|G|]                                                         [sites-kl]
// The backward pass adds to *d_posterior, which is then to go through ConditionBackward, and the
// terms that do not pass through it to *d_sites and *dK.
double NegativeKl(const Matrix& K, const Conditioned& posterior, const SitesTape& tape);
void NegativeKlBackward(const Sites& sites, const Matrix& K, const Conditioned& posterior,
                        const SitesTape& tape, Conditioned* d_posterior, Sites* d_sites,
                        Matrix* dK);

}  // namespace fathom

#endif  // FATHOM_MODEL_SITES_H_
