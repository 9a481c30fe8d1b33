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

void SpectralMixture::Gram(const Vector& theta, const Matrix& Z, Matrix* K,
                           AlignedBuffer* /*scratch*/) const {
  FATHOM_CHECK(theta.size() == NumParameters(Z.cols()));
  const spectral_mixture::Components c(theta, Z);
  K->resize(c.M, c.M);
  for (Index i = 0; i < c.M; ++i) {
    spectral_mixture::Plain(c, Z.row(i).data(), K->row(i).data());
    (*K)(i, i) = c.weights.sum();
  }
}

void SpectralMixture::GramBackward(const Vector& theta, const Matrix& Z, const Matrix& /*K*/,
                                   const Matrix& dK, Vector* d_theta, Matrix* dZ,
                                   AlignedBuffer* /*scratch*/) const {
  const spectral_mixture::Components c(theta, Z);
  Vector memory = Vector::Zero(spectral_mixture::Slopes::Size(c.Q, c.D, c.M));
  const spectral_mixture::Slopes slopes(c, memory.data());
  for (Index i = 0; i < c.M; ++i) {
    spectral_mixture::PlainBackward(c, Z.row(i).data(), dK.row(i).data(), slopes,
                                    dZ->row(i).data());
  }
  slopes.Finish(c, d_theta, dZ);
}

Vector SpectralMixture::SlopeVariance(const Vector& theta, Index input_dim) const {
  const spectral_mixture::Components c(theta, Matrix::Zero(1, input_dim));
  return (c.A + c.W.cwiseAbs2()).transpose() * c.weights;
}

std::unique_ptr<Projection> SpectralMixture::NewProjection() const {
  return std::make_unique<SpectralMixtureProjection>();
}

}  // namespace fathom
