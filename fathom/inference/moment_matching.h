// The arithmetic of EP for one latent function. It is done on the whitened pseudo-outputs v,
// u = L v, K = L L', whose prior is N(0, I): there no matrix is worse conditioned than the data
// make it, and the factors need not change when the kernel does.
//
// A factor exp(-1/2 v'Tv + v'h) is a Natural. T is symmetric but may be indefinite: in a deep
// network a row can widen what the others say. Products of factors add, powers scale.
#ifndef FATHOM_INFERENCE_MOMENT_MATCHING_H_
#define FATHOM_INFERENCE_MOMENT_MATCHING_H_

#include "fathom/model/conditioned.h"
#include "fathom/model/whitened.h"

namespace fathom {

struct Natural {
  Vector h;  // [M]
  Matrix T;  // [M, M], symmetric

  static Natural Zero(Index M) { return {Vector::Zero(M), Matrix::Zero(M, M)}; }
};

// Prior times factor, normalised: v ~ N(m, V).
struct Belief {
  Vector m;
  Matrix V;
  Matrix C_inverse;  // V^-1 = I + T = C C'
  // LogPartition(m, V) - LogPartition(prior); the same number in u and in v.
  double phi = 0;
};

//   V^-1 = I + T,   m = V h,   phi = 1/2 log|V| + 1/2 h'm                            [ep-deletion]
// False if I + T is not positive definite: the product is then no distribution.
bool ToBelief(const Natural& factor, Belief* out);
// The inverse: the factor that turns the prior into q.
Natural ToNatural(const Whitened& q);
Whitened ToWhitened(const Belief& belief);

//   a = L^-T m,   S = L^-T (I - V) L^-1                                              [ep-condition]
void Condition(const Belief& belief, const Matrix& L_inverse, Conditioned* out);

// The gradient of log Z with respect to the cavity's moments of v.
struct CavitySlopes {
  Vector g;  // dlogZ/dm
  Matrix E;  // -dlogZ/dV, symmetric
};
// Turns the gradient with respect to a and S into it:  g = L^-1 da,   E = L^-1 dS L^-T.
void WhitenSlopes(const Conditioned& d, const Matrix& L_inverse, CavitySlopes* out);
// Adds the gradient through L of Condition, at fixed m and V, to L' dF/dL (see CholeskyBackward):
//   -scale (m g' + 2 (I - V) E)
void ConditionBackward(const Belief& belief, const CavitySlopes& slopes, double scale,
                       Matrix* phi_argument);

// The factor f with  cavity * f^alpha = the moment-matched  q:                        [ep-matching]
//   m_q = m + V g,   V_q = V - V D V,   D = g g' + 2 E
//   alpha T = V_q^-1 - V^-1 = D + X'X,  X = chol(I - C^-1 D C^-T)^-1 C^-1 D
//   alpha h = alpha T (m + V g) + g
// and for alpha = 0, where log Z stands for its limit over alpha,  T = 2 E,  h = T m + g.
// False if V_q is not positive definite.
bool MatchMoments(const Belief& cavity, const CavitySlopes& slopes, double alpha, Natural* factor);

// The same along a line: a factor -1/2 T (c'v)^2 + h c'v, of whose cavity only the mean t and
// variance s of c'v matter, given dlogZ/dt = d_t and dlogZ/ds = d_s.             [ep-matching-line]
//   alpha T = D / (1 - D s),  D = d_t^2 - 2 d_s
struct LineFactor {
  double h = 0;
  double T = 0;
};
bool MatchMoments(double t, double s, double d_t, double d_s, double alpha, LineFactor* factor);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_MOMENT_MATCHING_H_
