#include "fathom/neighbour/fit_neighbour_gp.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/neighbour/search.h"
#include "fathom/optimize/minimize.h"

namespace fathom {

namespace {

// Parameters are the logarithms of [lengthscales, variance, noise].
NeighbourGp Unpack(const Vector& parameters, Correlation correlation) {
  const Index D = parameters.size() - 2;
  const Vector values = parameters.array().exp();
  return {correlation, values.head(D), values[D], values[D + 1]};
}

// Rows are predicted in chunks whose sums are added in their order.
constexpr Index kChunk = 64;
Index ChunksOf(Index rows) { return (rows + kChunk - 1) / kChunk; }

// Minus the mean log density of rows without themselves, and the prior.
class LeaveOneOutObjective : public Objective {
 public:
  LeaveOneOutObjective(const NeighbourData& data, std::vector<Index> rows,
                       const NeighbourFit& options, const ThreadPool& pool)
      : data_(data), rows_(std::move(rows)), options_(options), pool_(pool) {}

  void FindNeighbours(const Vector& parameters, const std::vector<std::int32_t>& copies) {
    const Index m = std::min(options_.neighbours, data_.x.rows() - 1);
    const NeighbourGp gp = Unpack(parameters, options_.correlation);
    neighbours_ = NeighbourSearch(data_.x, gp.lengthscales, copies, data_.Unknown())
                      .FindOthers(rows_, m, pool_);
  }

  Index num_parameters() const override { return data_.x.cols() + 2; }
  Index num_rows() const override { return static_cast<Index>(rows_.size()); }

  bool Evaluate(const Vector& parameters, const Batch& batch, double* value, Vector* gradient,
                std::string* reason) const override {
    if (!parameters.allFinite() || parameters.cwiseAbs().maxCoeff() > kMostLog) {
      *reason = "a hyperparameter left its range";
      return false;
    }
    const Index D = data_.x.cols();
    NeighbourGp gp = Unpack(parameters, options_.correlation);
    gp.noise += options_.noise_floor;
    const auto count = static_cast<Index>(batch.rows.size());
    const Index chunks = ChunksOf(count);
    std::vector<NeighbourGradient> parts(static_cast<std::size_t>(chunks),
                                         {.log_lengthscales = Vector::Zero(D)});
    Vector sums(chunks);
    pool_.Run(chunks, [&](Index chunk) {
      const Index first = chunk * kChunk;
      const Index size = std::min(kChunk, count - first);
      std::vector<Index> rows(static_cast<std::size_t>(size));
      Neighbours neighbours(size, neighbours_.cols());
      for (Index i = 0; i < size; ++i) {
        const Index place = batch.rows[static_cast<std::size_t>(first + i)];
        rows[i] = rows_[place];
        neighbours.row(i) = neighbours_.row(place);
      }
      sums[chunk] = LeaveOneOut(gp, data_, rows, neighbours, &parts[chunk]);
    });
    const auto scale = 1 / static_cast<double>(count);
    const auto N = static_cast<double>(num_rows());
    const double centre = 0.5 * std::log(static_cast<double>(D));
    const Eigen::ArrayXd distance =
        (parameters.head(D).array() - centre) / options_.lengthscale_prior;
    *value = -scale * sums.sum() + 0.5 * distance.square().sum() / N;
    if (gradient == nullptr) return std::isfinite(*value);
    gradient->setZero(D + 2);
    for (const NeighbourGradient& part : parts) {
      gradient->head(D) -= scale * part.log_lengthscales;
      (*gradient)[D] -= scale * part.log_variance;
      (*gradient)[D + 1] -= scale * part.log_noise * (gp.noise - options_.noise_floor) / gp.noise;
    }
    gradient->head(D).array() += distance / options_.lengthscale_prior / N;
    return std::isfinite(*value) && gradient->allFinite();
  }

 private:
  static constexpr double kMostLog = 30;

  const NeighbourData& data_;
  std::vector<Index> rows_;
  const NeighbourFit& options_;
  const ThreadPool& pool_;
  Neighbours neighbours_;
};

// The rows that teach: all whose target is known, or as many as are asked for.
std::vector<Index> TeachingRows(const NeighbourData& data, const NeighbourFit& options) {
  RandomStream stream(options.seed, 11);
  std::vector<Index> rows = stream.Permutation(data.x.rows());
  std::erase_if(rows, [&](Index n) { return !data.Known(n); });
  rows.resize(std::min(rows.size(), static_cast<std::size_t>(options.most_rows)));
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

NeighbourGp FitNeighbourGp(const NeighbourData& data, const std::vector<std::int32_t>& copies,
                           const NeighbourFit& options, const ThreadPool& pool,
                           const std::function<bool(const Progress&)>& callback) {
  const Index N = data.x.rows();
  const Index D = data.x.cols();
  FATHOM_CHECK(N >= 2 && D >= 1 && data.y.rows() == N);
  double sum = 0, weights = 0;
  Index known = 0;
  for (Index n = 0; n < N; ++n) {
    if (!data.Known(n)) continue;
    sum += data.Weight(n) * data.Own(n) * data.Own(n);
    weights += data.Weight(n);
    ++known;
  }
  const double variance = known == 0 ? 1 : std::max(sum / weights, 1e-300);
  Vector start = Vector::Constant(D + 2, 0.5 * std::log(static_cast<double>(D)));
  start[D] = std::log(0.5 * variance);
  start[D + 1] = std::log(0.5 * variance);
  if (options.start) {
    start.head(D) = options.start->lengthscales.array().log();
    start[D] = std::log(options.start->variance);
    start[D + 1] = std::log(options.start->noise);
  }
  if (known < 2) return Unpack(start, options.correlation);
  NeighbourFit scaled = options;
  scaled.noise_floor *= variance;
  LeaveOneOutObjective objective(data, TeachingRows(data, options), scaled, pool);
  MinimizeState state(start);
  const MinimizeOptions schedule{.steps = options.steps,
                                 .batch_size = options.batch_size,
                                 .learning_rate = options.learning_rate,
                                 .warm_up = 10,
                                 .patience = 0};
  // The neighbours follow the metric in rounds, unless the metric is known well enough.
  const Index rounds = options.start ? 2 : 6;
  const Index round = std::max<Index>(1, options.steps / rounds);
  bool stopped = false;
  while (state.step < options.steps && !stopped) {
    objective.FindNeighbours(state.parameters, copies);
    const Index until = state.step + round;
    const Summary summary = Minimize(
        objective, schedule, options.seed,
        [&](const Progress& progress, const MinimizeState& now) {
          stopped = callback && !callback(progress);
          return !stopped && now.step < until;
        },
        &state);
    if (summary.reason == StopReason::kNumericalFailure) throw NumericalError(summary.message);
    if (summary.reason != StopReason::kInterrupted) break;
  }
  NeighbourGp gp = Unpack(state.parameters, options.correlation);
  gp.noise += scaled.noise_floor;
  return gp;
}

Neighbours FindOthers(const NeighbourGp& gp, const NeighbourData& data,
                      const std::vector<std::int32_t>& copies, Index m, const ThreadPool& pool) {
  const Index N = data.x.rows();
  std::vector<Index> all(static_cast<std::size_t>(N));
  std::iota(all.begin(), all.end(), Index{0});
  return NeighbourSearch(data.x, gp.lengthscales, copies, data.Unknown())
      .FindOthers(all, std::min(m, N - 1), pool);
}

namespace {

// The moments of these rows of the table, in their order.
Moments MomentsOfRows(const NeighbourGp& gp, const NeighbourData& data, std::span<const Index> rows,
                      const Neighbours& neighbours, const ThreadPool& pool) {
  const auto count = static_cast<Index>(rows.size());
  Moments moments(count, 1);
  pool.Run(ChunksOf(count), [&](Index chunk) {
    const Index first = chunk * kChunk;
    const std::span<const Index> part = rows.subspan(
        static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(kChunk, count - first)));
    Neighbours own(std::ssize(part), neighbours.cols());
    for (std::size_t i = 0; i < part.size(); ++i)
      own.row(static_cast<Index>(i)) = neighbours.row(part[i]);
    NeighbourMoments(gp, data, {data.x, part, own}, moments.mean.data() + first,
                     moments.var.data() + first);
  });
  return moments;
}

// Fits to the rows outside the fold, if there are enough of them.
NeighbourGp FitWithoutFold(const NeighbourGp& start, const NeighbourData& data,
                           const RowGroups& groups, std::int32_t fold, const ThreadPool& pool) {
  std::vector<Index> rows;
  std::vector<std::int32_t> copies, view;
  std::vector<double> own, weights;
  for (Index n = 0; n < data.x.rows(); ++n) {
    if (groups.fold_of_row[n] == fold) continue;
    rows.push_back(n);
    copies.push_back(groups.copies[n]);
    view.push_back(static_cast<std::int32_t>(data.View(n)));
    own.push_back(data.Own(n));
    weights.push_back(data.Weight(n));
  }
  if (rows.size() < 2) return start;
  const Moments x(data.x.mean(rows, Eigen::all), data.x.var(rows, Eigen::all));
  const Matrix y = data.y(rows, Eigen::all);
  const NeighbourData part{
      .x = x, .y = y, .view_of_row = view, .own = own, .weights = weights, .certain = data.certain};
  return FitNeighbourGp(
      part, copies,
      {.correlation = start.correlation, .steps = 24, .batch_size = 128, .start = start}, pool);
}

}  // namespace

Moments MomentsFrom(const NeighbourGp& gp, const NeighbourData& data, const Neighbours& neighbours,
                    const ThreadPool& pool) {
  std::vector<Index> rows(static_cast<std::size_t>(data.x.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  return MomentsOfRows(gp, data, rows, neighbours, pool);
}

double MeanLogDensity(const NeighbourData& data, const Moments& moments) {
  double sum = 0, weights = 0;
  for (Index n = 0; n < moments.rows(); ++n) {
    if (!data.Known(n)) continue;
    const double error = data.Own(n) - moments.mean(n, 0);
    const double var = moments.var(n, 0);
    sum -= 0.5 * data.Weight(n) * (std::log(2 * std::numbers::pi * var) + error * error / var);
    weights += data.Weight(n);
  }
  return sum / weights;
}

Index EnoughNeighbours(const NeighbourGp& gp, const NeighbourData& data,
                       const Neighbours& neighbours, const Moments& by_all,
                       const ThreadPool& pool) {
  constexpr Index kFew = 32, kFewRows = 500;
  constexpr double kWorthIt = 0.001;  // nats per row
  if (neighbours.cols() <= kFew || data.x.rows() < kFewRows) return neighbours.cols();
  const Moments by_few = MomentsFrom(gp, data, neighbours.leftCols(kFew), pool);
  const double lost = MeanLogDensity(data, by_all) - MeanLogDensity(data, by_few);
  return lost < kWorthIt ? kFew : neighbours.cols();
}

Moments HonestMoments(const NeighbourGp& gp, const NeighbourData& data, const RowGroups& groups,
                      const Neighbours& neighbours, const ThreadPool& pool) {
  constexpr Index kManyRows = 4000;
  if (data.x.rows() >= kManyRows) return MomentsFrom(gp, data, neighbours, pool);
  const std::vector<std::int32_t>& fold_of_row = groups.fold_of_row;
  const std::int32_t folds = 1 + *std::max_element(fold_of_row.begin(), fold_of_row.end());
  Moments moments(data.x.rows(), 1);
  for (std::int32_t fold = 0; fold < folds; ++fold) {
    std::vector<Index> rows;
    for (Index n = 0; n < moments.rows(); ++n) {
      if (fold_of_row[n] == fold) rows.push_back(n);
    }
    const NeighbourGp own = FitWithoutFold(gp, data, groups, fold, pool);
    const Moments part = MomentsOfRows(own, data, rows, neighbours, pool);
    moments.mean(rows, Eigen::all) = part.mean;
    moments.var(rows, Eigen::all) = part.var;
  }
  return moments;
}

}  // namespace fathom
