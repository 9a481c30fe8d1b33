#include "fathom/train/screen_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/neighbour/fit_neighbour_gp.h"
#include "fathom/neighbour/search.h"

namespace fathom {

namespace {

constexpr Index kFewColumns = 10;
constexpr Index kFewRows = 200;
constexpr Index kMostRows = 10000;  // that are looked at
constexpr Index kMostAsked = 1000;  // rows that are predicted without themselves
constexpr Index kNeighbours = 32;

// The mean squared error of rows that are predicted without themselves and their copies.
double LeftOutError(const NeighbourGp& gp, const NeighbourData& data,
                    const std::vector<std::int32_t>& copies, const ThreadPool& pool) {
  std::vector<Index> asked(static_cast<std::size_t>(std::min(data.x.rows(), kMostAsked)));
  std::iota(asked.begin(), asked.end(), Index{0});
  const Neighbours near =
      NeighbourSearch(data.x, gp.lengthscales, copies).FindOthers(asked, kNeighbours, pool);
  Vector mean(near.rows()), var(near.rows());
  NeighbourMoments(gp, data, {data.x, asked, near}, mean.data(), var.data());
  return (data.y.col(0).head(near.rows()) - mean).squaredNorm() / static_cast<double>(near.rows());
}

}  // namespace

Vector ScreenColumns(const ScaledRows& rows, std::uint64_t seed, const ThreadPool& pool) {
  const auto read = [&](const std::vector<Index>& chosen) -> ScaledRows {
    return {Moments(rows.x.mean(chosen, Eigen::all), rows.x.var(chosen, Eigen::all)),
            rows.y(chosen, Eigen::all),
            rows.weights.size() > 0 ? Vector(rows.weights(chosen)) : Vector()};
  };
  return ScreenColumns({rows.x.rows(), rows.x.cols(), read}, seed, pool);
}

Vector ScreenColumns(const ScaledElsewhere& all, std::uint64_t seed, const ThreadPool& pool) {
  const Index D = all.inputs;
  if (D < kFewColumns || all.rows < kFewRows) return {};
  // As many random rows as are looked at.
  std::vector<Index> chosen = RandomStream(seed, 21).Sample(all.rows, kMostRows);
  std::sort(chosen.begin(), chosen.end());
  const ScaledRows rows = all.read(chosen);
  const std::vector<double> counts(rows.weights.begin(), rows.weights.end());
  const std::vector<std::int32_t> copies = FindCopies(rows.x, rows.y);
  const NeighbourGp equal{Correlation::kMatern32,
                          Vector::Constant(D, std::sqrt(static_cast<double>(D))), 0.5, 0.5};
  Vector lengthscales;
  for (Index t = 0; t < rows.y.cols(); ++t) {
    const Matrix y = rows.y.col(t);
    const NeighbourData data{.x = rows.x, .y = y, .weights = counts};
    constexpr double kHalf = 0.5;  // of the variance of a target, which is 1
    const double before = LeftOutError(equal, data, copies, pool);
    if (before < kHalf) continue;
    try {
      const NeighbourGp gp = FitNeighbourGp(data, copies,
                                            {.correlation = Correlation::kMatern32,
                                             .neighbours = kNeighbours,
                                             .most_rows = 2048,
                                             .seed = seed},
                                            pool);
      if (LeftOutError(gp, data, copies, pool) > kHalf * before) continue;
      // A column that matters to one target matters.
      lengthscales = lengthscales.size() == 0 ? gp.lengthscales
                                              : Vector(lengthscales.cwiseMin(gp.lengthscales));
    } catch (const NumericalError&) {
      continue;  // the network starts as ever
    }
  }
  return lengthscales;
}

}  // namespace fathom
