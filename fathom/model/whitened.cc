#include "fathom/model/whitened.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

void Condition(const Whitened& whitened, const Matrix& L_inverse, double beta, WhitenedTape* tape,
               Conditioned* out) {
  const Index M = L_inverse.rows();
  const Matrix& Delta = whitened.Delta;
  FATHOM_CHECK(Delta.rows() == M && whitened.mu.size() == M);
  tape->beta = beta;
  Matrix& W = tape->scratch1;
  Matrix& W_inverse = tape->scratch3;
  Matrix& W_factor_inverse = tape->scratch2;
  TransposeTimesSelf(Delta, &W);
  W *= 1 - beta;
  W.diagonal().array() += beta;
  if (!CholeskyWithInverse(&W, &W_factor_inverse, &tape->scratch3))
    throw NumericalError("the posterior of a latent function is not finite");
  tape->log_det_W = LogDeterminant(W);
  TransposeTimesSelf(W_factor_inverse, &W_inverse);
  Multiply({Delta, Triangle::kLower}, {W_inverse}, Triangle::kWhole, &tape->Q);
  Multiply({tape->Q}, {Delta, Triangle::kUpper, true}, Triangle::kLower, &tape->V);
  MirrorLower(&tape->V);
  tape->m = whitened.mu;
  tape->m.noalias() -= (1 - beta) * tape->V * whitened.mu;
  out->a.noalias() = L_inverse.transpose() * tape->m;
  Matrix& I_V = tape->scratch1;
  I_V = -tape->V;
  I_V.diagonal().array() += 1;
  Matrix& right = tape->scratch2;
  Multiply({I_V}, {L_inverse, Triangle::kLower}, Triangle::kWhole, &right);
  Multiply({L_inverse, Triangle::kUpper, true}, {right}, Triangle::kLower, &out->S);
  MirrorLower(&out->S);
}

void ConditionBackward(const Whitened& whitened, const Matrix& L_inverse,
                       const Conditioned& d_conditioned, WhitenedTape* tape, Whitened* d_whitened,
                       Matrix* phi_argument) {
  const Index M = L_inverse.rows();
  const double beta = tape->beta;
  // Through a = L^-T m and S = L^-T (I - V) L^-1:
  //   L'dL = -(m dm' + 2 (I - V) H),   H = L^-1 dS L^-T = -dV.
  Vector& dm = tape->dm;
  dm.noalias() = L_inverse * d_conditioned.a;
  Matrix& H = tape->scratch1;
  Matrix& VH = tape->scratch2;
  Matrix& dDelta = tape->scratch3;
  Multiply({L_inverse, Triangle::kLower}, {d_conditioned.S}, Triangle::kWhole, &VH);
  Multiply({VH}, {L_inverse, Triangle::kUpper, true}, Triangle::kLower, &H);
  MirrorLower(&H);
  Multiply({tape->V}, {H}, Triangle::kWhole, &VH);
  *phi_argument = 2 * (VH - H);
  phi_argument->noalias() -= tape->m * dm.transpose();

  // V = Delta W^-1 Delta':  dDelta = 2 (I - (1 - beta) V) dV Q, where dV has a share of m = mu - (1
  // - beta) V mu.
  VH = 2 * ((1 - beta) * VH - H);
  Multiply({VH}, {tape->Q}, Triangle::kLower, &dDelta);
  Vector& shrunk_dm = tape->shrunk_dm;
  Vector& Q_mu = tape->Q_mu;
  Vector& Q_dm = tape->Q_dm;
  shrunk_dm = dm;
  shrunk_dm.noalias() -= (1 - beta) * tape->V * dm;
  Q_mu.noalias() = (1 - beta) * tape->Q.transpose() * whitened.mu;
  Q_dm.noalias() = (1 - beta) * tape->Q.transpose() * dm;
  for (Index i = 0; i < M; ++i) {
    d_whitened->Delta.row(i).head(i + 1) += dDelta.row(i).head(i + 1) -
                                            shrunk_dm[i] * Q_mu.head(i + 1).transpose() -
                                            tape->m[i] * Q_dm.head(i + 1).transpose();
  }
  d_whitened->mu += shrunk_dm;
}

double FactorEnergy(const Whitened& whitened, const WhitenedTape& tape) {
  return whitened.Delta.diagonal().array().log().sum() - 0.5 * tape.log_det_W / (1 - tape.beta) -
         0.5 * tape.m.dot(whitened.mu);
}

void FactorEnergyBackward(const Whitened& whitened, WhitenedTape* tape, Whitened* d_whitened) {
  Vector& Q_mu = tape->Q_mu;
  Q_mu.noalias() = (1 - tape->beta) * tape->Q.transpose() * whitened.mu;
  for (Index i = 0; i < Q_mu.size(); ++i) {
    d_whitened->Delta.row(i).head(i + 1) +=
        tape->m[i] * Q_mu.head(i + 1).transpose() - tape->Q.row(i).head(i + 1);
    d_whitened->Delta(i, i) += 1 / whitened.Delta(i, i);
  }
  d_whitened->mu -= tape->m;
}

double NegativeKl(const Whitened& whitened) {
  return whitened.Delta.diagonal().array().log().sum() -
         0.5 * (whitened.Delta.squaredNorm() - static_cast<double>(whitened.mu.size()) +
                whitened.mu.squaredNorm());
}

void NegativeKlBackward(const Whitened& whitened, Whitened* d_whitened) {
  d_whitened->mu -= whitened.mu;
  d_whitened->Delta -= whitened.Delta;
  d_whitened->Delta.diagonal().array() += whitened.Delta.diagonal().array().inverse();
}

}  // namespace fathom
