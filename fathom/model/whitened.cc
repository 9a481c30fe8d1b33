#include "fathom/model/whitened.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

// All products below are plain ones of whole matrices in memory of the tape: at M = 100 they ran at
// 55 GFLOP/s where BLAS's triangular ones, with half the work, took as long, and temporaries cost
// as much again.

void Condition(const Whitened& whitened, const Matrix& L_inverse, double beta, WhitenedTape* tape,
               Conditioned* out) {
  const Index M = L_inverse.rows();
  const Matrix& Delta = whitened.Delta;
  FATHOM_CHECK(Delta.rows() == M && whitened.mu.size() == M);
  tape->beta = beta;
  tape->t = Delta.triangularView<Eigen::Lower>().solve(whitened.mu);
  Matrix& W = tape->scratch1;
  Matrix& W_inverse = tape->scratch2;
  W = Delta;
  TransposeTimesSelf(&W);
  W *= 1 - beta;
  W.diagonal().array() += beta;
  if (!CholeskyWithInverse(&W, &W_inverse))
    throw NumericalError("the posterior of a latent function is not finite");
  out->phi = Delta.diagonal().array().log().sum() - 0.5 * LogDeterminant(W);
  TransposeTimesSelf(&W_inverse);
  tape->y.noalias() = W_inverse * tape->t;
  out->phi += 0.5 * beta * beta * tape->t.dot(tape->y);
  tape->Q.resize(M, M);
  tape->V.resize(M, M);
  tape->Q.noalias() = Delta * W_inverse;
  tape->V.noalias() = tape->Q * Delta.transpose();
  tape->m.noalias() = beta * (Delta * tape->y);
  out->a.noalias() = L_inverse.transpose() * tape->m;
  Matrix& I_V = tape->scratch1;
  I_V = -tape->V;
  I_V.diagonal().array() += 1;
  Matrix& right = tape->scratch2;
  right.noalias() = I_V * L_inverse;
  out->S.resize(M, M);
  out->S.noalias() = L_inverse.transpose() * right;
  SymmetrizeInPlace(&out->S);
}

void ConditionBackward(const Whitened& whitened, const Matrix& L_inverse,
                       const Conditioned& d_conditioned, WhitenedTape* tape, Whitened* d_whitened,
                       Matrix* phi_argument) {
  const Index M = L_inverse.rows();
  const Matrix& Delta = whitened.Delta;
  const double beta = tape->beta;
  const double d_phi = d_conditioned.phi;
  // Through a = L^-T m and S = L^-T (I - V) L^-1:
  //   L'dL = -(m dm' + 2 (I - V) H),   H = L^-1 dS L^-T = -dV.
  const Vector dm = L_inverse * d_conditioned.a;
  Matrix& H = tape->scratch1;
  Matrix& VH = tape->scratch2;
  Matrix& dDelta = tape->scratch3;
  VH.resize(M, M);
  H.resize(M, M);
  dDelta.resize(M, M);
  VH.noalias() = L_inverse * d_conditioned.S;
  H.noalias() = VH * L_inverse.transpose();
  VH.noalias() = tape->V * H;
  *phi_argument = 2 * (VH - H);
  phi_argument->noalias() -= tape->m * dm.transpose();

  // V = Delta W^-1 Delta':  dDelta = 2 (I - (1 - beta) V) dV Q.
  VH = 2 * ((1 - beta) * VH - H);
  dDelta.noalias() = VH * tape->Q;
  // m = beta Delta W^-1 t and phi: of rank one, but for two terms.
  const Vector Qdm = tape->Q.transpose() * dm;
  const Vector dt = beta * Qdm + d_phi * beta * beta * tape->y;
  const Vector solved = Delta.transpose().triangularView<Eigen::Upper>().solve(dt);  // dmu
  const Vector outer_y = beta * (dm - (1 - beta) * (tape->V * dm));
  const Vector Delta_y = (1 - beta) * beta * (Delta * tape->y);
  const Vector outer_Delta_y = Qdm + d_phi * beta * tape->y;
  for (Index i = 0; i < M; ++i) {
    const Index n = i + 1;
    d_whitened->Delta.row(i).head(n) +=
        dDelta.row(i).head(n) - (1 - beta) * d_phi * tape->Q.row(i).head(n) +
        outer_y[i] * tape->y.head(n).transpose() - Delta_y[i] * outer_Delta_y.head(n).transpose() -
        solved[i] * tape->t.head(n).transpose();
    d_whitened->Delta(i, i) += d_phi / Delta(i, i);
  }
  d_whitened->mu += solved;
}

double LogPartition(const Whitened& whitened) {
  const Vector t = whitened.Delta.triangularView<Eigen::Lower>().solve(whitened.mu);
  return whitened.Delta.diagonal().array().log().sum() + 0.5 * t.squaredNorm();
}

void LogPartitionBackward(const Whitened& whitened, double d_phi, Whitened* d_whitened) {
  const Matrix& Delta = whitened.Delta;
  const Vector t = Delta.triangularView<Eigen::Lower>().solve(whitened.mu);
  const Vector solved = d_phi * Delta.transpose().triangularView<Eigen::Upper>().solve(t);
  d_whitened->mu += solved;
  for (Index i = 0; i < t.size(); ++i) {
    d_whitened->Delta.row(i).head(i + 1) -= solved[i] * t.head(i + 1).transpose();
  }
  d_whitened->Delta.diagonal().array() += d_phi / Delta.diagonal().array();
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
