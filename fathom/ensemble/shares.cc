#include "fathom/ensemble/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fathom/base/error.h"

namespace fathom {

Vector StackShares(const Matrix& log_densities, const Vector& weights) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Index N = log_densities.rows();
  const Index K = log_densities.cols();
  FATHOM_CHECK(N > 0 && K > 0 && (weights.size() == 0 || weights.size() == N));
  // Relative to the best of each row; a member that gives a row no density at all has 0.
  Matrix density(N, K);
  for (Index n = 0; n < N; ++n) {
    const Eigen::RowVectorXd l =
        log_densities.row(n).unaryExpr([](double v) { return std::isnan(v) ? -kInfinity : v; });
    const double best = l.maxCoeff();
    density.row(n) = std::isfinite(best) ? Eigen::RowVectorXd((l.array() - best).exp())
                                         : Eigen::RowVectorXd(Eigen::RowVectorXd::Ones(K));
  }
  Vector shares = Vector::Constant(K, 1 / static_cast<double>(K));
  constexpr int kIterations = 500;
  for (int i = 0; i < kIterations; ++i) {
    Eigen::RowVectorXd counts = Eigen::RowVectorXd::Constant(K, 1 / static_cast<double>(K));
    for (Index n = 0; n < N; ++n) {
      const Eigen::RowVectorXd part = density.row(n).cwiseProduct(shares.transpose());
      counts += (weights.size() > 0 ? weights[n] : 1.0) / part.sum() * part;
    }
    shares = counts.transpose() / counts.sum();
  }
  return shares;
}

}  // namespace fathom
