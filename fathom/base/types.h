// The few types that every folder speaks.
#ifndef FATHOM_BASE_TYPES_H_
#define FATHOM_BASE_TYPES_H_

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "fathom/base/export.h"

namespace fathom FATHOM_PUBLIC {

// Matrices cross the border of the shared library, so both sides must allocate them alike.
static_assert(
    EIGEN_DEFAULT_ALIGN_BYTES <= 16,
    "the library is built for matrices with 16-byte alignment: compile files that include "
    "fathom.h without -march=native, -mavx and the like");

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

  Moments Rows(const std::vector<Index>& rows) const {
    return {Matrix(mean(rows, Eigen::all)), Matrix(var(rows, Eigen::all))};
  }
  Moments MiddleRows(Index begin, Index count) const {
    return {Matrix(mean.middleRows(begin, count)), Matrix(var.middleRows(begin, count))};
  }

  void Resize(Index rows, Index cols) {
    mean.resize(rows, cols);
    var.resize(rows, cols);
  }
  void SetZero(Index rows, Index cols) {
    mean.setZero(rows, cols);
    var.setZero(rows, cols);
  }
};

// One joint Gaussian per row: Moments with the covariances between the cells of a row kept.
struct FullMoments {
  Matrix mean;              // [N, D]
  std::vector<Matrix> cov;  // N of [D, D], symmetric

  static FullMoments FromDiagonal(const Moments& x) {
    FullMoments full;
    full.mean = x.mean;
    full.cov.reserve(static_cast<std::size_t>(x.rows()));
    for (Index n = 0; n < x.rows(); ++n) full.cov.emplace_back(x.var.row(n).asDiagonal());
    return full;
  }
  Moments Diagonal() const {
    Moments x(rows(), cols());
    x.mean = mean;
    for (Index n = 0; n < rows(); ++n) x.var.row(n) = cov[n].diagonal().transpose();
    return x;
  }

  Index rows() const { return mean.rows(); }
  Index cols() const { return mean.cols(); }

  void SetZero(Index rows, Index cols) {
    mean.setZero(rows, cols);
    cov.assign(static_cast<std::size_t>(rows), Matrix::Zero(cols, cols));
  }
};

}  // namespace fathom

#endif  // FATHOM_BASE_TYPES_H_
