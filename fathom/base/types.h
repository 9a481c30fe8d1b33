// The few types that every folder speaks.
#ifndef FATHOM_BASE_TYPES_H_
#define FATHOM_BASE_TYPES_H_

#include <Eigen/Core>
#include <utility>

namespace fathom {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
// Row-major: one row is one observation, contiguous, as in a table and in NumPy.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Independent Gaussians, one per cell: what flows between layers and what enters the first one.
// A cell known exactly has variance 0; a missing or noisy one has not.
struct Moments {
  Matrix mean;  // [N, D]
  Matrix var;   // [N, D]

  Moments() = default;
  Moments(Index rows, Index cols) : mean(rows, cols), var(rows, cols) {}
  Moments(Matrix mean_in, Matrix var_in) : mean(std::move(mean_in)), var(std::move(var_in)) {}

  static Moments Certain(Matrix values) {
    Matrix zero = Matrix::Zero(values.rows(), values.cols());
    return Moments(std::move(values), std::move(zero));
  }

  Index rows() const { return mean.rows(); }
  Index cols() const { return mean.cols(); }

  void SetZero(Index rows, Index cols) {
    mean.setZero(rows, cols);
    var.setZero(rows, cols);
  }
};

}  // namespace fathom

#endif  // FATHOM_BASE_TYPES_H_
