#include "fathom/kernel/se_ard.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"
#include "fathom/kernel/se_ard_full_layer.h"
#include "fathom/kernel/se_ard_loops.h"
#include "fathom/kernel/se_ard_projection.h"

namespace fathom {

void SeArd::Profile(Array* r2) const { *r2 = (-0.5 * *r2).exp(); }

void SeArd::LogSlope(Array* r2) const { r2->setConstant(-0.5); }

void SeArd::Derivatives(Array* r2, Array* second) const {
  Profile(r2);
  *second = 0.25 * *r2;
  *r2 *= -0.5;
}

void SeArd::Gram(const Vector& theta, const Matrix& Z, Matrix* K, AlignedBuffer* scratch) const {
  const Index M = Z.rows();
  FATHOM_CHECK(theta.size() == Z.cols() + 1);
  // Row i against all: the same loop as for data, on lengthscale-scaled coordinates.
  const Index D = Z.cols();
  const Index padded = PaddedSize(M);
  scratch->assign(static_cast<std::size_t>((M + 2 * D + 1) * padded), 0.0);
  double* const rows = scratch->data();            // [M, padded]
  double* const transposed = rows + M * padded;    // [D, padded]
  double* const scaled = transposed + D * padded;  // [M, D]
  double* const offset = scaled + D * padded;      // [M]
  std::fill_n(offset, M, std::log(theta[0]));
  for (Index i = 0; i < M; ++i) {
    for (Index q = 0; q < D; ++q) {
      scaled[i * D + q] = Z(i, q) / theta[1 + q];
      transposed[q * padded + i] = scaled[i * D + q];
    }
  }
  se_ard::GaussianRows({M, D, M, offset, scaled, nullptr, transposed, rows});
  K->resize(M, M);
  for (Index i = 0; i < M; ++i) {
    for (Index j = 0; j < M; ++j) (*K)(i, j) = rows[i * padded + j];
    (*K)(i, i) = theta[0];
  }
}

void SeArd::GramBackward(const Vector& theta, const Matrix& Z, const Matrix& K, const Matrix& dK,
                         GramGradient gradient, AlignedBuffer* scratch) const {
  // With E = dK o K and its row sums r,
  //   sum_ij E_ij (z_i - z_j)^2 = 2 sum_i r_i z_i^2 - 2 sum_ij E_ij z_i z_j.
  const Index M = Z.rows();
  const Index D = Z.cols();
  scratch->resize(static_cast<std::size_t>(M * M + M * D));
  Eigen::Map<Matrix> E(scratch->data(), M, M);
  Eigen::Map<Matrix> pull(scratch->data() + M * M, M, D);  // E Z - diag(r) Z
  E = dK.cwiseProduct(K);
  pull.noalias() = E * Z;
  for (Index i = 0; i < M; ++i) {
    const double r = E.row(i).sum();
    pull.row(i) -= r * Z.row(i);
    gradient.theta[0] += r / theta[0];
  }
  for (Index q = 0; q < D; ++q) {
    const double inverse_square = 1 / (theta[1 + q] * theta[1 + q]);
    gradient.Z.col(q) += 2 * inverse_square * pull.col(q);
    gradient.theta[1 + q] -= 2 * inverse_square / theta[1 + q] * Z.col(q).dot(pull.col(q));
  }
}

std::unique_ptr<Projection> SeArd::NewProjection() const {
  return std::make_unique<SeArdProjection>();
}

std::unique_ptr<FullLayer> SeArd::NewFullLayer() const {
  return std::make_unique<SeArdFullLayer>();
}

}  // namespace fathom
