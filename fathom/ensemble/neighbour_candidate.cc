#include "fathom/ensemble/neighbour_candidate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/neighbour/fit_neighbour_gp.h"
#include "fathom/neighbour/search.h"

namespace fathom {

namespace {

// Without the rows of one fold of five, kNeighbours are usually left.
constexpr Index kSpare = 24;

// Half of the neighbours teach the same, unless rows are few (docs/measurements/decisions.md).
Index NeighboursInTraining(Index rows) { return rows < 300 ? kNeighbours : kNeighbours / 2; }

Neighbours Nearest(const Neighbours& near) {
  return near.leftCols(std::min(near.cols(), kNeighbours));
}

}  // namespace

NeighbourCandidate::NeighbourCandidate(const ScaledTable& table, Moments trend,
                                       const Options& options, const ThreadPool& pool)
    : table_(table), pool_(pool), trend_(std::move(trend)), certain_(table.AllCertain()) {
  const Index N = table.rows();
  const Index T = table.targets();
  const Index D = table.x.cols();
  x_ = Moments(N, D + T);
  x_.mean << table.x.mean, trend_.mean;
  x_.var << table.x.var, Matrix::Zero(N, T);
  left_out_ = Moments(N, T);
  gps_.resize(static_cast<std::size_t>(T));
  near_.resize(static_cast<std::size_t>(T));
  own_trend_ = trend_.mean;
  for (Index t = 0; t < T; ++t) {
    if (options.trend_without.empty()) {
      residual_.emplace_back(table.y.col(t) - trend_.mean.col(t));
      continue;
    }
    const Matrix& without = options.trend_without[static_cast<std::size_t>(t)];
    residual_.emplace_back(table.y.col(t).replicate(1, N) - without);
    own_trend_.col(t) = without.diagonal();
  }
  for (Index t = 0; t < T; ++t) own_.emplace_back(table.y.col(t) - own_trend_.col(t));
  if (!options.trend_without.empty()) {
    view_of_row_.resize(static_cast<std::size_t>(N));
    std::iota(view_of_row_.begin(), view_of_row_.end(), 0);
  }
  for (Index t = 0; t < T; ++t) {
    const NeighbourData data = DataOf(t);
    const Moments by_all = Learn(t, data, options);
    const Neighbours near = Nearest(near_[t]);
    enough_ = std::max(enough_, EnoughNeighbours(gps_[t], data, near, by_all, pool));
    const Moments moments =
        HonestMoments(gps_[t], data, {table.copies, table.fold_of_row}, near, pool);
    left_out_.mean.col(t) = moments.mean.col(0) + own_trend_.col(t);
    left_out_.var.col(t) = moments.var.col(0) + trend_.var.col(t);
  }
}

Moments NeighbourCandidate::Learn(Index target, const NeighbourData& data, const Options& options) {
  Moments moments;
  const NeighbourGp* known = options.known.empty() ? nullptr : &options.known[target];
  std::vector<Correlation> tried = {Correlation::kMatern12, Correlation::kMatern32};
  if (!options.correlations.empty()) tried = {options.correlations[target]};
  if (known != nullptr) tried = {known->correlation};
  double best = -std::numeric_limits<double>::infinity();
  for (const Correlation correlation : tried) {
    const NeighbourFit fit{.correlation = correlation,
                           .neighbours = NeighboursInTraining(table_.rows()),
                           .seed = options.seed};
    const NeighbourGp gp = known != nullptr
                               ? *known
                               : FitNeighbourGp(data, table_.copies, fit, pool_, options.callback);
    Neighbours near = FindOthers(gp, data, table_.copies, kNeighbours + kSpare, pool_);
    Moments own = MomentsFrom(gp, data, Nearest(near), pool_);
    const double score = MeanLogDensity(data, own);
    if (!(score > best)) continue;
    best = score;
    moments = std::move(own);
    gps_[target] = gp;
    near_[target] = std::move(near);
  }
  if (!std::isfinite(best)) throw NumericalError("no neighbour GP could be fitted");
  return moments;
}

NeighbourData NeighbourCandidate::DataOf(Index target) const {
  return {.x = x_,
          .y = residual_[target],
          .view_of_row = view_of_row_,
          .own = {own_[target].data(), static_cast<std::size_t>(own_[target].size())},
          .weights = table_.weight_span(),
          .certain = certain_};
}

Moments NeighbourCandidate::LeftOutWithFold(std::int32_t fold) const {
  const Index N = table_.rows();
  Moments all(N, table_.targets());
  for (Index t = 0; t < table_.targets(); ++t) {
    Neighbours kept = Neighbours::Constant(N, std::min(near_[t].cols(), kNeighbours), -1);
    for (Index n = 0; n < N; ++n) {
      Index count = 0;
      for (Index i = 0; i < near_[t].cols() && count < kept.cols(); ++i) {
        const std::int32_t other = near_[t](n, i);
        if (other >= 0 && table_.fold_of_row[other] != fold) kept(n, count++) = other;
      }
    }
    const Moments moments = MomentsFrom(gps_[t], DataOf(t), kept, pool_);
    all.mean.col(t) = moments.mean.col(0) + own_trend_.col(t);
    all.var.col(t) = moments.var.col(0) + trend_.var.col(t);
  }
  return all;
}

std::shared_ptr<const Expert> NeighbourCandidate::MakeExpert() const {
  NeighbourRows rows{x_, table_.y - trend_.mean, Vector::Zero(table_.targets()), table_.weights};
  return std::make_shared<NeighbourExpert>(gps_, std::move(rows), enough_);
}

}  // namespace fathom
