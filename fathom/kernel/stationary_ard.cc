#include "fathom/kernel/stationary_ard.h"

#include "fathom/base/error.h"
#include "fathom/kernel/quadrature_projection.h"

namespace fathom {

namespace {

Eigen::ArrayXd InverseLengthscales(const Vector& theta, Index D) {
  FATHOM_CHECK(theta.size() == D + 1);
  return theta.tail(D).array().inverse();
}

}  // namespace

std::vector<Kernel::Block> StationaryArd::Blocks(Index input_dim) const {
  return {{"variance", 1}, {"lengthscales", input_dim}};
}

Vector StationaryArd::InitialParameters(Index input_dim, double lengthscale) const {
  Vector theta = Vector::Constant(1 + input_dim, lengthscale);
  theta[0] = 1;
  return theta;
}

void StationaryArd::SquaredDistances(const Eigen::Ref<const Vector>& scaled_x, const Matrix& z,
                                     Array* r2) {
  r2->setZero(z.cols());
  for (Index q = 0; q < z.rows(); ++q) *r2 += (z.row(q).array() - scaled_x[q]).square();
  *r2 = (*r2 > kFar).select(kFar, *r2);  // NaN stays NaN
}

void StationaryArd::Cross(const Vector& theta, const Rows& X, const Matrix& Z,
                          Eigen::Ref<Matrix> K) const {
  const Eigen::ArrayXd scale = InverseLengthscales(theta, Z.cols());
  const Matrix z = scale.matrix().asDiagonal() * Z.transpose();
  Vector x(Z.cols());
  Array r2;
  for (Index n = 0; n < X.rows(); ++n) {
    x = X.row(n).transpose().array() * scale;
    SquaredDistances(x, z, &r2);
    Profile(&r2);
    K.row(n) = theta[0] * r2;
  }
}

void StationaryArd::CrossBackward(const Vector& theta, const Rows& X, const Matrix& Z,
                                  const Rows& K, const Rows& dK, CrossGradient gradient) const {
  const Index D = Z.cols();
  const Eigen::ArrayXd scale = InverseLengthscales(theta, D);
  const Matrix z = scale.matrix().asDiagonal() * Z.transpose();
  Matrix d_z = Matrix::Zero(D, Z.rows());
  Vector x(D);
  Array r2;
  Array share;
  Array pull;  // dF / dx, in scaled coordinates
  for (Index n = 0; n < X.rows(); ++n) {
    x = X.row(n).transpose().array() * scale;
    SquaredDistances(x, z, &r2);
    LogSlope(&r2);
    share = dK.row(n).array() * K.row(n).array();
    gradient.theta[0] += share.sum() / theta[0];
    share *= 2 * r2;
    for (Index q = 0; q < D; ++q) {
      pull = share * (x[q] - z.row(q).array());
      gradient.theta[1 + q] -= (pull * (x[q] - z.row(q).array())).sum() * scale[q];
      d_z.row(q).array() -= pull;
      if (gradient.X != nullptr) (*gradient.X)(n, q) += pull.sum() * scale[q];
    }
  }
  gradient.Z += d_z.transpose() * scale.matrix().asDiagonal();
}

// With t = (x_q - z_q) / l_q:  dk/dx_q = 2 variance p' t / l_q,
//   d2k/dx_q^2 = variance (4 p'' t^2 + 2 p') / l_q^2.
void StationaryArd::CrossAlong(const Vector& theta, const Rows& X, const Matrix& Z, Index input,
                               Along* out) const {
  const Eigen::ArrayXd scale = InverseLengthscales(theta, Z.cols());
  const Matrix z = scale.matrix().asDiagonal() * Z.transpose();
  const double l = theta[1 + input];
  out->first.resize(X.rows(), Z.rows());
  out->second.resize(X.rows(), Z.rows());
  out->diagonal_second.setZero(X.rows());
  Vector x(Z.cols());
  Array p1;
  Array p2;
  Array t;
  for (Index n = 0; n < X.rows(); ++n) {
    x = X.row(n).transpose().array() * scale;
    SquaredDistances(x, z, &p1);
    Derivatives(&p1, &p2);
    t = x[input] - z.row(input).array();
    out->first.row(n) = 2 * theta[0] / l * p1 * t;
    out->second.row(n) = theta[0] / (l * l) * (4 * p2 * t.square() + 2 * p1);
  }
}

void StationaryArd::Diagonal(const Vector& theta, const Rows& /*X*/, Eigen::Ref<Vector> k) const {
  k.setConstant(theta[0]);
}

void StationaryArd::DiagonalBackward(const Vector& /*theta*/, const Rows& /*X*/,
                                     const Eigen::Ref<const Vector>& dk, Eigen::Ref<Vector> d_theta,
                                     Eigen::Ref<Matrix>* /*dX*/) const {
  d_theta[0] += dk.sum();
}

Vector StationaryArd::SlopeVariance(const Vector& theta, Index input_dim) const {
  Array slope = Array::Zero(1);
  LogSlope(&slope);
  return -2 * slope[0] * theta[0] * InverseLengthscales(theta, input_dim).square();
}

Index StationaryArd::MostUncertainInputs() const {
  return QuadratureProjection::kMostUncertainInputs;
}

std::unique_ptr<Projection> StationaryArd::NewProjection() const {
  return std::make_unique<QuadratureProjection>(*this);
}

}  // namespace fathom
