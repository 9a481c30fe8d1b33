#include "fathom/model/whitened.h"

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

Conditioned Condition(const Whitened& whitened, const Matrix& L_inverse, double beta,
                      WhitenedTape* tape) {
  const Index M = L_inverse.rows();
  const Matrix& Delta = whitened.Delta;
  FATHOM_CHECK(Delta.rows() == M && whitened.mu.size() == M);
  WhitenedTape local;
  WhitenedTape& out_tape = tape != nullptr ? *tape : local;
  out_tape.beta = beta;
  out_tape.t = Delta.triangularView<Eigen::Lower>().solve(whitened.mu);
  Matrix W = Delta.transpose().triangularView<Eigen::Upper>() * Delta;
  W *= 1 - beta;
  W.diagonal().array() += beta;
  if (!CholeskyInPlace(&W))
    throw NumericalError("the posterior of a latent function is not finite");
  Conditioned out;
  out.phi = Delta.diagonal().array().log().sum() - 0.5 * LogDeterminant(W);
  InvertLowerInPlace(&W);
  const Matrix E = Delta.triangularView<Eigen::Lower>() * W.transpose();  // V = E E'
  out_tape.V.noalias() = E * E.transpose();
  out_tape.Q = E * W.triangularView<Eigen::Lower>();
  const Vector half = W.triangularView<Eigen::Lower>() * out_tape.t;
  out_tape.y = W.transpose().triangularView<Eigen::Upper>() * half;
  out.phi += 0.5 * beta * beta * half.squaredNorm();
  out_tape.m = Delta.triangularView<Eigen::Lower>() * out_tape.y;
  out_tape.m *= beta;
  out.a = L_inverse.transpose().triangularView<Eigen::Upper>() * out_tape.m;
  Matrix I_V = -out_tape.V;
  I_V.diagonal().array() += 1;
  const Matrix right = I_V * L_inverse.triangularView<Eigen::Lower>();
  out.S = L_inverse.transpose().triangularView<Eigen::Upper>() * right;
  return out;
}

void ConditionBackward(const Whitened& whitened, const Matrix& L_inverse, const WhitenedTape& tape,
                       const Conditioned& d_conditioned, Whitened* d_whitened,
                       Matrix* d_phi_argument) {
  const Matrix& Delta = whitened.Delta;
  const double beta = tape.beta;
  const double d_phi = d_conditioned.phi;
  // Through a = L^-T m and S = L^-T (I - V) L^-1:  L'dL = -(m dm' + 2 (I - V) H) with H = L^-1 dS
  // L^-T = -dV.
  const Vector dm = L_inverse.triangularView<Eigen::Lower>() * d_conditioned.a;
  const Matrix left = L_inverse.triangularView<Eigen::Lower>() * d_conditioned.S;
  const Matrix H = left * L_inverse.transpose().triangularView<Eigen::Upper>();
  const Matrix VH = tape.V * H;
  *d_phi_argument -= tape.m * dm.transpose() + 2 * (H - VH);

  // V = Delta W^-1 Delta':  dDelta = 2 (I - (1 - beta) V) dV Q.
  const Matrix shrunk = (1 - beta) * VH - H;
  Matrix dDelta = 2 * (shrunk * tape.Q);
  // m = beta Delta W^-1 t and phi, whose gradients are of rank one but for two diagonal terms.
  const Vector Vdm = tape.V * dm;
  const Vector Qdm = tape.Q.transpose() * dm;
  const Vector Delta_y = Delta.triangularView<Eigen::Lower>() * tape.y;
  const Vector dt = beta * Qdm + d_phi * beta * beta * tape.y;
  const Vector solved = Delta.transpose().triangularView<Eigen::Upper>().solve(dt);  // dmu
  dDelta += beta * (dm - (1 - beta) * Vdm) * tape.y.transpose();
  dDelta -= (1 - beta) * beta * Delta_y * (Qdm + d_phi * beta * tape.y).transpose();
  dDelta -= (1 - beta) * d_phi * tape.Q;
  dDelta -= solved * tape.t.transpose();
  dDelta.diagonal().array() += d_phi / Delta.diagonal().array();
  d_whitened->mu += solved;
  d_whitened->Delta += Matrix(dDelta.triangularView<Eigen::Lower>());
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
  const Matrix outer = solved * t.transpose();
  d_whitened->Delta -= Matrix(outer.triangularView<Eigen::Lower>());
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
