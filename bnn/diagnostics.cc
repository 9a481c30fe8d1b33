#include "bnn/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fathom/base/error.h"

namespace fathom::bnn {

namespace {

// [2 chains, floor(T/2)]: the first and the last half of each chain.
Matrix Halves(const Matrix& draws) {
  FATHOM_CHECK(draws.cols() >= 4);
  const Index n = draws.cols() / 2;
  Matrix halves(2 * draws.rows(), n);
  halves << draws.leftCols(n), draws.rightCols(n);
  return halves;
}

struct Variances {
  Matrix centred;  // the halves without their means
  double within = 0, total = 0;

  explicit Variances(const Matrix& draws) {
    const Matrix halves = Halves(draws);
    const auto n = static_cast<double>(halves.cols());
    const auto m = static_cast<double>(halves.rows());
    const Vector means = halves.rowwise().mean();
    centred = halves.colwise() - means;
    within = centred.squaredNorm() / (m * (n - 1));
    const double between = (means.array() - means.mean()).square().sum() / (m - 1);
    total = (n - 1) / n * within + between;
  }
};

}  // namespace

double SplitRhat(const Matrix& draws) {
  const Variances variances(draws);
  if (!(variances.within > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(variances.total / variances.within);
}

double EffectiveSampleSize(const Matrix& draws) {
  const Variances variances(draws);
  if (!(variances.within > 0)) return std::numeric_limits<double>::quiet_NaN();
  const Matrix& x = variances.centred;
  const Index n = x.cols();
  const auto m = static_cast<double>(x.rows());
  const auto autocorrelation = [&](Index t) {
    if (t == 0) return 1.0;
    const double products = x.leftCols(n - t).cwiseProduct(x.rightCols(n - t)).sum();
    const double covariance = products / (m * static_cast<double>(n - 1));
    return 1 - (variances.within - covariance) / variances.total;
  };
  double sum = 0;
  double least = std::numeric_limits<double>::infinity();
  for (Index t = 0; t + 1 < n; t += 2) {
    const double pair = autocorrelation(t) + autocorrelation(t + 1);
    if (!(pair > 0)) break;
    least = std::min(least, pair);
    sum += least;
  }
  const double draws_in_all = m * static_cast<double>(n);
  const double tau = std::max(-1 + 2 * sum, 1 / std::log10(draws_in_all));
  return draws_in_all / tau;
}

DualAveraging::DualAveraging(double initial_step, const DualAveragingOptions& options)
    : options_(options),
      mu_(std::log(10 * initial_step)),
      step_(initial_step),
      averaged_(initial_step) {}

void DualAveraging::Update(double acceptance) {
  t_ += 1;
  const double newest = 1 / (t_ + options_.t0);
  H_ = (1 - newest) * H_ + newest * (options_.target - acceptance);
  const double log_step = mu_ - std::sqrt(t_) / options_.gamma * H_;
  const double weight = std::pow(t_, -options_.kappa);
  step_ = std::exp(log_step);
  averaged_ = std::exp(weight * log_step + (1 - weight) * std::log(averaged_));
}

}  // namespace fathom::bnn
