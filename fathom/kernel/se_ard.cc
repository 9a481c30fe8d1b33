#include "fathom/kernel/se_ard.h"

#include "fathom/base/error.h"
#include "fathom/kernel/se_ard_projection.h"

namespace fathom {

std::vector<Kernel::Block> SeArd::Blocks(Index input_dim) const {
  return {{"variance", 1}, {"lengthscales", input_dim}};
}

void SeArd::Gram(const Vector& theta, const Matrix& Z, Matrix* K) const {
  const Index M = Z.rows();
  FATHOM_CHECK(theta.size() == Z.cols() + 1);
  const Matrix scaled = Z * theta.tail(Z.cols()).cwiseInverse().asDiagonal();
  K->resize(M, M);
  for (Index i = 0; i < M; ++i) {
    (*K)(i, i) = theta[0];
    for (Index j = 0; j < i; ++j) {
      const double k = theta[0] * std::exp(-0.5 * (scaled.row(i) - scaled.row(j)).squaredNorm());
      (*K)(i, j) = k;
      (*K)(j, i) = k;
    }
  }
}

void SeArd::GramBackward(const Vector& theta, const Matrix& Z, const Matrix& K, const Matrix& dK,
                         Vector* d_theta, Matrix* dZ) const {
  // With E = dK o K and row sums r:  sum_ij E_ij (z_i - z_j)^2 = 2 sum_i r_i z_i^2 - 2 sum_ij E_ij
  // z_i z_j.
  const Matrix E = dK.cwiseProduct(K);
  const Vector r = E.rowwise().sum();
  const Matrix EZ = E * Z;
  const Vector inverse_square = theta.tail(Z.cols()).array().square().inverse();
  const Matrix pull = EZ - r.asDiagonal() * Z;
  *dZ += 2 * pull * inverse_square.asDiagonal();
  (*d_theta)[0] += r.sum() / theta[0];
  d_theta->tail(Z.cols()).array() -= 2 * Z.cwiseProduct(pull).colwise().sum().transpose().array() /
                                     theta.tail(Z.cols()).array().cube();
}

std::unique_ptr<Projection> SeArd::NewProjection() const {
  return std::make_unique<SeArdProjection>();
}

}  // namespace fathom
