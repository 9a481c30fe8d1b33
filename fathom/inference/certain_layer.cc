#include "fathom/inference/certain_layer.h"

#include <algorithm>

namespace fathom {

namespace {

// Kernels offer k(Z, Z) alone, so blocks of rows are appended to Z; a block of M rows makes the
// most of it.
Matrix Joint(const Matrix& Z, const Matrix& x, Index begin, Index count) {
  Matrix joint(Z.rows() + count, Z.cols());
  joint << Z, x.middleRows(begin, count);
  return joint;
}

Index BlockRows(Index M) { return std::max<Index>(M, 32); }

}  // namespace

CertainRows ProjectCertain(const SparseGp& gp, const Matrix& L_inverse, const Matrix& x) {
  const Index M = gp.num_inducing();
  CertainRows out{Matrix(x.rows(), M), Vector(x.rows())};
  Matrix K;
  for (Index begin = 0; begin < x.rows(); begin += BlockRows(M)) {
    const Index count = std::min(BlockRows(M), x.rows() - begin);
    gp.kernel->Gram(gp.theta, Joint(gp.Z, x, begin, count), &K);
    out.C.middleRows(begin, count) =
        K.bottomLeftCorner(count, M) * L_inverse.transpose().triangularView<Eigen::Upper>();
    out.spread.segment(begin, count) = K.diagonal().tail(count);
  }
  out.spread = (out.spread - out.C.rowwise().squaredNorm()).cwiseMax(0);
  return out;
}

void ProjectCertainBackward(const SparseGp& gp, const Matrix& L_inverse, const Matrix& x,
                            const CertainRows& rows, const Matrix& dC, const Vector& d_spread,
                            SparseGp* d_gp, Matrix* phi_argument) {
  const Index M = gp.num_inducing();
  const Vector active = (rows.spread.array() > 0).select(d_spread, 0.0);
  const Matrix total = dC - 2 * active.asDiagonal() * rows.C;
  // C = k(x, Z) L^-T.
  phi_argument->noalias() -= total.transpose() * rows.C;
  const Matrix d_cross = total * L_inverse.triangularView<Eigen::Lower>();
  Matrix K;
  AlignedBuffer kernel_scratch;
  for (Index begin = 0; begin < x.rows(); begin += BlockRows(M)) {
    const Index count = std::min(BlockRows(M), x.rows() - begin);
    const Matrix joint = Joint(gp.Z, x, begin, count);
    gp.kernel->Gram(gp.theta, joint, &K);
    Matrix dK = Matrix::Zero(M + count, M + count);
    dK.bottomLeftCorner(count, M) = 0.5 * d_cross.middleRows(begin, count);
    dK.topRightCorner(M, count) = dK.bottomLeftCorner(count, M).transpose();
    dK.diagonal().tail(count) = active.segment(begin, count);
    Matrix d_joint = Matrix::Zero(joint.rows(), joint.cols());
    gp.kernel->GramBackward(gp.theta, joint, K, dK, &d_gp->theta, &d_joint, &kernel_scratch);
    d_gp->Z += d_joint.topRows(M);
  }
}

LineCavities DeleteLines(const Belief& q, const Matrix& directions, const Matrix& factors,
                         double alpha) {
  LineCavities out;
  out.U = directions * q.V;
  const Eigen::ArrayXd s = (directions.array() * out.U.array()).rowwise().sum();
  const Eigen::ArrayXd t = (directions * q.m).array();
  const Eigen::ArrayXd h = alpha * factors.col(0).array();
  const Eigen::ArrayXd T = alpha * factors.col(1).array();
  out.q = 1 - T * s;
  out.kappa = T / out.q.array();
  out.gamma = (T * t - h) / out.q.array();
  out.d_phi = -0.5 * out.q.array().log() +
              0.5 * (T * t.square() - 2 * h * t + h.square() * s) / out.q.array();
  return out;
}

LineMoments MomentsAlong(const Belief& q, const LineCavities* cavities, const Matrix& C) {
  LineMoments out;
  out.VC = C * q.V;
  out.t = C * q.m;
  out.s = (C.array() * out.VC.array()).rowwise().sum();
  if (cavities != nullptr) {
    out.UC = (C.array() * cavities->U.array()).rowwise().sum();
    out.t.array() += cavities->gamma.array() * out.UC.array();
    out.s.array() += cavities->kappa.array() * out.UC.array().square();
  }
  return out;
}

Matrix MomentsAlongBackward(const Belief& q, const LineCavities* cavities,
                            const LineMoments& moments, const Vector& d_t, const Vector& d_s) {
  Matrix dC = d_t * q.m.transpose() + 2 * d_s.asDiagonal() * moments.VC;
  if (cavities != nullptr) {
    const Vector along = d_t.cwiseProduct(cavities->gamma) +
                         2 * d_s.cwiseProduct(cavities->kappa).cwiseProduct(moments.UC);
    dC += along.asDiagonal() * cavities->U;
  }
  return dC;
}

}  // namespace fathom
