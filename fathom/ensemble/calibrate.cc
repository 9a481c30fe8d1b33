#include "fathom/ensemble/calibrate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/data/resolution.h"
#include "fathom/ensemble/replicates.h"
#include "fathom/fitted/neighbour_expert.h"
#include "fathom/neighbour/fit_neighbour_gp.h"
#include "fathom/neighbour/search.h"

namespace fathom {

namespace {

// In steps of about the fourth root of ten a mixture of Gaussians is smooth.
const Vector kScales =
    (Vector(12) << 0.056, 0.1, 0.18, 0.32, 0.56, 1, 1.8, 3.2, 5.6, 10, 20, 50).finished();
// The shares of the same scales in a Student t with five degrees of freedom.
const Vector kPrior =
    (Vector(12) << 0, 0, 0, 0.01, 0.13, 0.53, 0.28, 0.043, 0.0062, 0.0007, 7e-5, 3e-5).finished();
constexpr double kPriorRows = 10;

// Logarithms of errors relative to what was expected. An error of 0 says that it was small, not
// that it was infinitely small.
Matrix LogErrors(const Matrix& y, const Moments& centre) {
  constexpr double kSmall = 0.1;
  return ((y - centre.mean).array().abs() / centre.var.array().sqrt() + kSmall).log();
}

// Without what is not known.
double MeanOf(const Vector& values, const Vector& weights) {
  if (values.hasNaN()) {
    double sum = 0;
    double count = 0;
    for (Index n = 0; n < values.size(); ++n) {
      if (std::isnan(values[n])) continue;
      const double weight = weights.size() > 0 ? weights[n] : 1;
      sum += weight * values[n];
      count += weight;
    }
    return sum / count;
  }
  return weights.size() > 0 ? values.dot(weights) / weights.sum() : values.mean();
}

// What rows that were left out show: how far off their centres were, and how far they should be.
struct Errors {
  const ScaledTable& table;
  Matrix e;   // [N, targets]: y minus the centre
  Matrix sd;  // [N, targets]: expected
};

// The log density of a row's errors with this scale, none below the floor; its log probability
// where the target is given in steps.
double LogDensityOf(const Errors& errors, const Vector& floor, Index n, double scale) {
  const ScaledTable& table = errors.table;
  if (table.cell.rows() > 0) {
    return LogProbabilityBetween(errors.e(n, 0) + table.cell(n, 0),
                                 errors.e(n, 0) + table.cell(n, 1), 0, scale * errors.sd(n, 0));
  }
  double sum = 0;
  for (Index t = 0; t < errors.e.cols(); ++t) {
    if (std::isnan(errors.e(n, t))) continue;
    const double width = std::max(scale * errors.sd(n, t), floor[t]);
    sum += LogNormalPdf(errors.e(n, t), 0, width * width);
  }
  return sum;
}

// [N]: the log densities of all rows.
Vector LogDensities(const Calibration& calibration, const Errors& errors) {
  Vector density(errors.e.rows());
  for (Index n = 0; n < density.size(); ++n) {
    double sum = 0;
    for (Index s = 0; s < calibration.scales.size(); ++s) {
      sum += calibration.shares[s] *
             std::exp(LogDensityOf(errors, calibration.floor, n, calibration.scales[s]));
    }
    density[n] = std::log(std::max(sum, 1e-300));
  }
  return density;
}

// Local noise: the logarithms of errors as a neighbour GP in the inputs and the centre.
struct LocalNoise {
  std::shared_ptr<const Expert> expert;
  Matrix g;  // [N, targets], as each row sees it without itself
};

// [N, targets]: the centres, or their mean over rows with the same inputs. A row that is left out
// of many with its inputs moves the centre away from itself, so the centre would tell how far off
// it is.
Matrix CentresOfPlaces(const ScaledTable& table, Matrix centre) {
  const std::vector<std::int32_t> first = FindCopies(table.x, Matrix(table.rows(), 0));
  Matrix sums = Matrix::Zero(centre.rows(), centre.cols());
  Vector counts = Vector::Zero(centre.rows());
  for (Index n = 0; n < centre.rows(); ++n) {
    if (first[n] < 0) continue;
    const double weight = table.weights.size() > 0 ? table.weights[n] : 1;
    sums.row(first[n]) += weight * centre.row(n);
    counts[first[n]] += weight;
  }
  for (Index n = 0; n < centre.rows(); ++n) {
    if (first[n] >= 0) centre.row(n) = sums.row(first[n]) / counts[first[n]];
  }
  return centre;
}

LocalNoise FitLocalNoise(const ScaledTable& table, const LeftOut& left_out, std::uint64_t seed,
                         const ThreadPool& pool) {
  const Index N = table.rows();
  const Index T = table.targets();
  const auto folds = static_cast<std::int32_t>(table.folds.size());
  Moments x(N, table.x.cols() + T);
  x.mean << table.x.mean, CentresOfPlaces(table, left_out.centre.mean);
  x.var << table.x.var, Matrix::Zero(N, T);
  const Matrix own = LogErrors(table.y, left_out.centre);
  std::vector<Matrix> views;  // [folds] of [N, T]
  for (std::int32_t fold = 0; fold < folds; ++fold)
    views.push_back(LogErrors(table.y, left_out.without_fold(fold)));
  LocalNoise noise{nullptr, Matrix(N, T)};
  std::vector<NeighbourGp> gps;
  const bool certain = table.AllCertain();
  NeighbourRows rows{x, Matrix(N, T), Vector(T), table.weights};
  for (Index t = 0; t < T; ++t) {
    const double mean = MeanOf(own.col(t), table.weights);
    Matrix seen(N, folds);
    for (std::int32_t fold = 0; fold < folds; ++fold)
      seen.col(fold) = views[static_cast<std::size_t>(fold)].col(t);
    // What queries see is made in the same way: from predictions without a fold. Those have fewer
    // neighbours, so a row's own errors are smaller.
    Vector by_all = seen.rowwise().sum();
    for (Index n = 0; n < N; ++n)
      by_all[n] = (by_all[n] - seen(n, table.fold_of_row[n])) / static_cast<double>(folds - 1);
    const double level = MeanOf(by_all, table.weights);
    seen.array() -= level;
    const Vector target = own.col(t).array() - mean;
    const NeighbourData data{.x = x,
                             .y = seen,
                             .view_of_row = table.fold_of_row,
                             .own = {target.data(), static_cast<std::size_t>(N)},
                             .weights = table.weight_span(),
                             .certain = certain};
    constexpr Index kErrors = 64;  // one error says little
    const NeighbourFit fit{.neighbours = kErrors / 2, .seed = seed};
    const NeighbourGp gp = FitNeighbourGp(data, table.fold_of_row, fit, pool);
    const Neighbours near = FindOthers(gp, data, table.fold_of_row, kErrors, pool);
    const Moments moments =
        HonestMoments(gp, data, {table.fold_of_row, table.fold_of_row}, near, pool);
    noise.g.col(t) = moments.mean.array() + mean;
    rows.y.col(t) = by_all.array() - level;
    rows.mean[t] = mean;
    gps.push_back(gp);
  }
  noise.expert = std::make_shared<NeighbourExpert>(std::move(gps), std::move(rows), 64);
  return noise;
}

// No standard deviation is below the rounding of the target, unless the errors are hardly larger
// than it: then it is no rounding, but the values that were chosen for the target. The floor comes
// in by degrees, so that a hair's breadth of an error does not decide about it.
Vector FloorOf(const ScaledTable& table, const Matrix& errors) {
  Vector floor = Vector::Zero(table.targets());
  if (table.cell.rows() > 0) return floor;  // steps have probabilities
  for (Index t = 0; t < floor.size(); ++t) {
    Vector known = table.y.col(t);
    known.conservativeResize(
        std::remove_if(known.begin(), known.end(), [](double y) { return std::isnan(y); }) -
        known.begin());
    const double rounding = Resolution(known) / std::sqrt(12.0);
    const double rmse = std::sqrt(MeanOf(errors.col(t).cwiseAbs2(), table.weights));
    if (rounding > 0) floor[t] = rounding * std::clamp(rmse / rounding - 1, 0.0, 1.0);
  }
  return floor;
}

// [scales]: the shares that maximise sum_n c_n log sum_s p_s exp(l_ns) + prior' log p.
Vector MostLikelyShares(Matrix log_density, const Vector& weights) {
  Matrix& density = log_density;
  for (Index n = 0; n < density.rows(); ++n)
    density.row(n) = (density.row(n).array() - density.row(n).maxCoeff()).exp();
  Vector shares = kPrior.array() + 1e-6;
  shares /= shares.sum();
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    Vector counts = kPriorRows * kPrior;
    for (Index n = 0; n < density.rows(); ++n) {
      const double weight = weights.size() > 0 ? weights[n] : 1;
      const Vector part = density.row(n).transpose().cwiseProduct(shares);
      counts += weight / part.sum() * part;
    }
    shares = counts / counts.sum();
  }
  return shares;
}

// The shares for these standard deviations, and the mean log density that they reach.
double FitShares(const Errors& errors, Calibration* calibration) {
  const ScaledTable& table = errors.table;
  calibration->scales = kScales;
  if (table.cell.rows() > 0) {
    Matrix log_density(table.rows(), kScales.size());
    for (Index n = 0; n < table.rows(); ++n) {
      for (Index s = 0; s < kScales.size(); ++s)
        log_density(n, s) = LogDensityOf(errors, calibration->floor, n, kScales[s]);
    }
    calibration->shares = MostLikelyShares(std::move(log_density), table.weights);
  } else {
    // Nothing may be gained by errors that are smaller than the floor.
    Matrix z = errors.e.cwiseQuotient(errors.sd);
    for (Index t = 0; t < z.cols(); ++t) {
      for (Index n = 0; n < z.rows(); ++n) {
        const double least = calibration->floor[t] / errors.sd(n, t);
        if (std::abs(z(n, t)) < least) z(n, t) = least;
      }
    }
    calibration->shares = ScaleShares(kScales, z, table.weights);
  }
  return MeanOf(LogDensities(*calibration, errors), table.weights);
}

// Scales that hardly count would cost time at every prediction.
void DropRareScales(Calibration* calibration) {
  constexpr double kRare = 1e-4;
  std::vector<double> scales, shares;
  for (Index s = 0; s < calibration->scales.size(); ++s) {
    // The widest ones stay, however rare: they are for what was never seen.
    if (calibration->shares[s] < kRare && calibration->scales[s] < 1) continue;
    scales.push_back(calibration->scales[s]);
    shares.push_back(std::max(calibration->shares[s], 1e-9));
  }
  calibration->scales = Eigen::Map<Vector>(scales.data(), static_cast<Index>(scales.size()));
  calibration->shares = Eigen::Map<Vector>(shares.data(), static_cast<Index>(shares.size()));
  calibration->shares /= calibration->shares.sum();
}

HeldOutCheck CheckOn(const Errors& errors, const Calibration& calibration) {
  const ScaledTable& table = errors.table;
  HeldOutCheck check;
  check.rows = table.rows();
  const Vector& unit = table.target_scaler.scale;
  Vector density = LogDensities(calibration, errors);
  for (Index n = 0; n < density.size(); ++n) {
    for (Index t = 0; t < table.targets(); ++t)
      density[n] -= std::isnan(errors.e(n, t)) ? 0 : std::log(unit[t]);
  }
  check.log_likelihood = MeanOf(density, table.weights);
  check.rmse = unit[0] * std::sqrt(MeanOf(errors.e.col(0).cwiseAbs2(), table.weights));
  Vector covered = Vector::Zero(table.rows());
  for (Index n = 0; n < table.rows(); ++n) {
    const Index known = table.targets() - errors.e.row(n).array().isNaN().count();
    for (Index t = 0; t < table.targets(); ++t) {
      if (std::isnan(errors.e(n, t))) continue;
      double below = 0;
      for (Index s = 0; s < calibration.scales.size(); ++s) {
        const double width =
            std::max(calibration.scales[s] * errors.sd(n, t), calibration.floor[t]);
        below += calibration.shares[s] * NormalCdf(errors.e(n, t) / width);
      }
      const double part = 1 / static_cast<double>(known);
      covered[n] += below > 0.025 && below < 0.975 ? part : 0;
    }
  }
  check.coverage_95 = MeanOf(covered, table.weights);
  return check;
}

}  // namespace

Vector ScaleShares(const Vector& scales, const Matrix& z, const Vector& weights) {
  FATHOM_CHECK(scales.size() == kPrior.size());
  Matrix log_density(z.rows(), scales.size());
  for (Index n = 0; n < z.rows(); ++n) {
    const auto unknown = z.row(n).array().isNaN();
    const double squares = unknown.select(0, z.row(n)).squaredNorm();
    const auto known = static_cast<double>(z.cols() - unknown.count());
    for (Index s = 0; s < scales.size(); ++s)
      log_density(n, s) = -0.5 * squares / (scales[s] * scales[s]) - known * std::log(scales[s]);
  }
  return MostLikelyShares(std::move(log_density), weights);
}

void Recalibrate(const ScaledTable& table, const Moments& spread, Calibration* calibration) {
  const Errors errors{table, table.y - spread.mean, spread.var.cwiseSqrt()};
  const Vector& unit = table.target_scaler.scale;
  calibration->floor = calibration->floor.cwiseQuotient(unit);
  FitShares(errors, calibration);
  DropRareScales(calibration);
  calibration->check = CheckOn(errors, *calibration);
  calibration->floor = calibration->floor.cwiseProduct(unit);
}

Calibration Calibrate(const ScaledTable& table, const LeftOut& left_out, std::uint64_t seed,
                      const ThreadPool& pool, Moments* spread) {
  Errors errors{table, table.y - left_out.centre.mean, left_out.centre.var.cwiseSqrt()};
  Calibration calibration;
  calibration.floor = FloorOf(table, errors.e);
  const double plain = FitShares(errors, &calibration);
  // The neighbours of few rows are far away.
  constexpr Index kEnough = 100;
  if (table.rows() >= kEnough && left_out.without_fold) {
    const LocalNoise noise = FitLocalNoise(table, left_out, seed, pool);
    Errors by_place = errors;
    by_place.sd = errors.sd.cwiseProduct(noise.g.array().exp().matrix());
    Calibration local;
    local.floor = calibration.floor;
    const double gained = FitShares(by_place, &local) - plain;
    constexpr double kWorthIt = 3;  // nats in all
    if (gained * static_cast<double>(table.rows()) > kWorthIt) {
      calibration = std::move(local);
      calibration.local_noise = noise.expert;
      errors.sd = std::move(by_place.sd);
    }
  }
  DropRareScales(&calibration);
  calibration.seen = LearnFromReplicates(table, left_out.centre.mean, errors.sd);
  if (calibration.local_noise != nullptr || calibration.seen != nullptr) {
    calibration.input_scaler = table.input_scaler;
    calibration.target_scaler = table.target_scaler;
  }
  calibration.check = CheckOn(errors, calibration);
  if (spread != nullptr) *spread = {left_out.centre.mean, errors.sd.cwiseAbs2()};
  calibration.floor = calibration.floor.cwiseProduct(table.target_scaler.scale);
  return calibration;
}

}  // namespace fathom
