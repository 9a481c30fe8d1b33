#include "fathom/kernel/se_ard.h"

#include <cmath>

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"
#include "fathom/kernel/se_ard_loops.h"
#include "fathom/kernel/se_ard_projection.h"

namespace fathom {

std::vector<Kernel::Block> SeArd::Blocks(Index input_dim) const {
  return {{"variance", 1}, {"lengthscales", input_dim}};
}

Vector SeArd::InitialParameters(Index input_dim, double lengthscale) const {
  Vector theta = Vector::Constant(1 + input_dim, lengthscale);
  theta[0] = 1;
  return theta;
}

void SeArd::Gram(const Vector& theta, const Matrix& Z, Matrix* K) const {
  const Index M = Z.rows();
  FATHOM_CHECK(theta.size() == Z.cols() + 1);
  // Row i against all: the same loop as for data, on lengthscale-scaled coordinates.
  const Index D = Z.cols();
  const Index padded = PaddedSize(M);
  thread_local AlignedBuffer scaled, transposed, offset, rows;
  scaled.resize(static_cast<std::size_t>(M * D));
  transposed.assign(static_cast<std::size_t>(D * padded), 0.0);
  offset.assign(static_cast<std::size_t>(M), std::log(theta[0]));
  rows.resize(static_cast<std::size_t>(M * padded));
  for (Index i = 0; i < M; ++i) {
    for (Index q = 0; q < D; ++q) {
      scaled[i * D + q] = Z(i, q) / theta[1 + q];
      transposed[q * padded + i] = scaled[i * D + q];
    }
  }
  se_ard::GaussianRows(M, D, M, offset.data(), scaled.data(), nullptr, transposed.data(),
                       rows.data());
  K->resize(M, M);
  for (Index i = 0; i < M; ++i) {
    for (Index j = 0; j < M; ++j) (*K)(i, j) = rows[i * padded + j];
    (*K)(i, i) = theta[0];
  }
}

void SeArd::GramBackward(const Vector& theta, const Matrix& Z, const Matrix& K, const Matrix& dK,
                         Vector* d_theta, Matrix* dZ) const {
  // With E = dK o K and its row sums r,
  //   sum_ij E_ij (z_i - z_j)^2 = 2 sum_i r_i z_i^2 - 2 sum_ij E_ij z_i z_j.
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

Vector SeArd::SlopeVariance(const Vector& theta, Index input_dim) const {
  return theta[0] * theta.tail(input_dim).array().square().inverse();
}

std::unique_ptr<Projection> SeArd::NewProjection() const {
  return std::make_unique<SeArdProjection>();
}

}  // namespace fathom
