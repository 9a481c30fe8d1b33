#include "fathom/inference/moment_matching.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

bool ToBelief(const Natural& factor, Belief* out) {
  Matrix C = factor.T;
  C.diagonal().array() += 1;
  Matrix scratch;
  if (!CholeskyWithInverse(&C, &out->C_inverse, &scratch)) return false;
  out->phi = -0.5 * LogDeterminant(C);
  TransposeTimesSelf(out->C_inverse, &out->V);
  out->m = out->V * factor.h;
  out->phi += 0.5 * factor.h.dot(out->m);
  return true;
}

Natural ToNatural(const Whitened& q) {
  Natural out;
  Matrix inverse = q.Delta;
  InvertLowerInPlace(&inverse);
  TransposeTimesSelf(inverse, &out.T);
  out.h = out.T * q.mu;
  out.T.diagonal().array() -= 1;
  return out;
}

Whitened ToWhitened(const Belief& belief) {
  Whitened out{belief.m, belief.V};
  if (!CholeskyInPlace(&out.Delta))
    throw NumericalError("the posterior of a latent function is not finite");
  return out;
}

void Condition(const Belief& belief, const Matrix& L_inverse, Conditioned* out) {
  out->a = L_inverse.transpose() * belief.m;
  Matrix inner = -belief.V;
  inner.diagonal().array() += 1;
  out->S = Product({Product(LowerTransposed(L_inverse), {inner})}, Lower(L_inverse));
  SymmetrizeInPlace(&out->S);
  out->phi = belief.phi;
}

void WhitenSlopes(const Conditioned& d, const Matrix& L_inverse, CavitySlopes* out) {
  out->g = L_inverse * d.a;
  out->E = Product({Product(Lower(L_inverse), {d.S})}, LowerTransposed(L_inverse));
  SymmetrizeInPlace(&out->E);
}

void ConditionBackward(const Belief& belief, const CavitySlopes& slopes, double scale,
                       Matrix* phi_argument) {
  phi_argument->noalias() -= (scale * belief.m) * slopes.g.transpose();
  *phi_argument -= (2 * scale) * slopes.E;
  phi_argument->noalias() += (2 * scale) * belief.V * slopes.E;
}

bool MatchMoments(const Belief& cavity, const CavitySlopes& slopes, double alpha, Natural* factor) {
  if (alpha == 0) {
    factor->T = 2 * slopes.E;
    factor->h = factor->T * cavity.m + slopes.g;
    return true;
  }
  Matrix& T = factor->T;
  T = 2 * slopes.E;
  T.noalias() += slopes.g * slopes.g.transpose();
  const Matrix CD = Product(Lower(cavity.C_inverse), {T});
  Matrix rest = -Product({CD}, LowerTransposed(cavity.C_inverse));
  rest.diagonal().array() += 1;
  Matrix root_inverse;
  Matrix scratch;
  if (!CholeskyWithInverse(&rest, &root_inverse, &scratch)) return false;
  const Matrix X = Product(Lower(root_inverse), {CD});
  T.noalias() += X.transpose() * X;
  T /= alpha;
  const Vector m_q = cavity.m + cavity.V * slopes.g;
  factor->h = T * m_q + slopes.g / alpha;
  return true;
}

bool MatchMoments(double t, double s, double d_t, double d_s, double alpha, LineFactor* factor) {
  if (alpha == 0) {
    factor->T = -2 * d_s;
    factor->h = factor->T * t + d_t;
    return true;
  }
  const double D = d_t * d_t - 2 * d_s;
  const double rest = 1 - D * s;
  if (!(rest > 0)) return false;
  factor->T = D / rest / alpha;
  factor->h = factor->T * (t + s * d_t) + d_t / alpha;
  return true;
}

}  // namespace fathom
