#include "fathom/inference/certain_layer.h"

#include "fathom/base/linalg.h"

namespace fathom {

CertainRows ProjectCertain(const CertainInput& in) {
  const auto& [gp, L_inverse, x] = in;
  Matrix K(x.rows(), gp.num_inducing());
  gp.kernel->Cross(gp.theta, x, gp.Z, K);
  CertainRows out{Product({K}, LowerTransposed(L_inverse)), Vector(x.rows())};
  gp.kernel->Diagonal(gp.theta, x, out.spread);
  out.spread = (out.spread - out.C.rowwise().squaredNorm()).cwiseMax(0);
  return out;
}

void ProjectCertainBackward(const CertainInput& in, const CertainRows& rows,
                            const CertainRows& d_rows, SparseGp* d_gp, Matrix* phi_argument) {
  const auto& [gp, L_inverse, x] = in;
  const Vector active = (rows.spread.array() > 0).select(d_rows.spread, 0.0);
  const Matrix total = d_rows.C - 2 * active.asDiagonal() * rows.C;
  // C = k(x, Z) L^-T.
  *phi_argument -= Product(Transposed(total), {rows.C});
  const Matrix dK = Product({total}, Lower(L_inverse));
  Matrix K(x.rows(), gp.num_inducing());
  gp.kernel->Cross(gp.theta, x, gp.Z, K);
  gp.kernel->CrossBackward(gp.theta, x, gp.Z, K, dK, {d_gp->theta, nullptr, d_gp->Z});
  gp.kernel->DiagonalBackward(gp.theta, x, active, d_gp->theta, nullptr);
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
