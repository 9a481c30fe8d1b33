#include "fathom/kernel/spectral_mixture.h"

#include "fathom/base/error.h"
#include "fathom/kernel/spectral_mixture_projection.h"
#include "fathom/kernel/spectral_mixture_rows.h"

namespace fathom {

namespace {

constexpr double kTwoPi = 2 * 3.14159265358979323846;

}  // namespace

SpectralMixture::SpectralMixture(Index components) : components_(components) {
  FATHOM_CHECK(components >= 1 && components <= kMostComponents);
}

std::string SpectralMixture::Name() const {
  if (components_ == kDefaultComponents) return "spectral_mixture";
  return "spectral_mixture:" + std::to_string(components_);
}

std::vector<Kernel::Block> SpectralMixture::Blocks(Index input_dim) const {
  return {{"weights", components_},
          {"means", components_ * input_dim},
          {"variances", components_ * input_dim}};
}

Vector SpectralMixture::InitialParameters(Index input_dim, double lengthscale) const {
  const Index size = components_ * input_dim;
  Vector theta(components_ + 2 * size);
  theta.head(components_).setConstant(1 / static_cast<double>(components_));
  for (Index q = 0; q < components_; ++q) {
    theta.segment(components_ + q * input_dim, input_dim)
        .setConstant((static_cast<double>(q) + 0.1) / (kTwoPi * lengthscale));
  }
  theta.tail(size).setConstant(1 / (kTwoPi * kTwoPi * lengthscale * lengthscale));
  return theta;
}

void SpectralMixture::Cross(const Vector& theta, const Rows& X, const Matrix& Z,
                            Eigen::Ref<Matrix> K) const {
  FATHOM_CHECK(theta.size() == NumParameters(Z.cols()));
  const spectral_mixture::Components c(theta, Z);
  for (Index n = 0; n < X.rows(); ++n) spectral_mixture::Plain(c, X.row(n).data(), K.row(n).data());
}

void SpectralMixture::CrossBackward(const Vector& theta, const Rows& X, const Matrix& Z,
                                    const Rows& /*K*/, const Rows& dK,
                                    CrossGradient gradient) const {
  const spectral_mixture::Components c(theta, Z);
  Vector memory = Vector::Zero(spectral_mixture::Slopes::Size(c.Q, c.D, c.M));
  const spectral_mixture::Slopes slopes(c, memory.data());
  Vector unused = Vector::Zero(c.D);
  for (Index n = 0; n < X.rows(); ++n) {
    spectral_mixture::PlainBackward(
        c, X.row(n).data(), dK.row(n).data(), slopes,
        gradient.X != nullptr ? gradient.X->row(n).data() : unused.data());
  }
  slopes.Finish(c, gradient.theta, gradient.Z);
}

void SpectralMixture::CrossAlong(const Vector& theta, const Rows& X, const Matrix& Z, Index input,
                                 Along* out) const {
  const spectral_mixture::Components c(theta, Z);
  out->first.resize(X.rows(), Z.rows());
  out->second.resize(X.rows(), Z.rows());
  out->diagonal_second.setZero(X.rows());
  for (Index n = 0; n < X.rows(); ++n) {
    spectral_mixture::PlainAlong(c, X.row(n).data(), input, out->first.row(n).data(),
                                 out->second.row(n).data());
  }
}

void SpectralMixture::Diagonal(const Vector& theta, const Rows& /*X*/, Eigen::Ref<Vector> k) const {
  k.setConstant(theta.head(components_).sum());
}

void SpectralMixture::DiagonalBackward(const Vector& /*theta*/, const Rows& /*X*/,
                                       const Eigen::Ref<const Vector>& dk,
                                       Eigen::Ref<Vector> d_theta,
                                       Eigen::Ref<Matrix>* /*dX*/) const {
  d_theta.head(components_).array() += dk.sum();
}

Vector SpectralMixture::SlopeVariance(const Vector& theta, Index input_dim) const {
  const spectral_mixture::Components c(theta, Matrix::Zero(1, input_dim));
  return (c.A + c.W.cwiseAbs2()).transpose() * c.weights;
}

std::unique_ptr<Projection> SpectralMixture::NewProjection() const {
  return std::make_unique<SpectralMixtureProjection>();
}

}  // namespace fathom
