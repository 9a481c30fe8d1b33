#include "fathom/data/column_warps.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/distribution/prediction.h"

namespace fathom {

namespace {

constexpr std::size_t kLeastValues = 5;
constexpr double kNormalEnough = 0.95;

// The different values of a column with the normal scores of their mid-ranks.
struct Scores {
  std::vector<double> values, scores;
};

Scores NormalScores(std::vector<double> cells) {
  std::sort(cells.begin(), cells.end());
  Scores out;
  const auto count = static_cast<double>(cells.size());
  for (std::size_t first = 0; first < cells.size();) {
    std::size_t end = first;
    while (end < cells.size() && cells[end] == cells[first]) ++end;
    out.values.push_back(cells[first]);
    out.scores.push_back(NormalQuantile(0.5 * static_cast<double>(first + end) / count));
    first = end;
  }
  return out;
}

double SquaredCorrelation(const Vector& a, const Vector& b) {
  const Eigen::ArrayXd x = a.array() - a.mean();
  const Eigen::ArrayXd y = b.array() - b.mean();
  const double both = (x * y).sum();
  return both * both / (x.square().sum() * y.square().sum());
}

}  // namespace

bool ColumnWarps::operator==(const ColumnWarps& other) const {
  const auto same = [](const Matrix& a, const Matrix& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
  };
  return columns == other.columns && same(knots, other.knots) && same(scores, other.scores);
}

WarpedValue WarpAt(const ColumnWarps& warps, Index w, double standardised) {
  const Index last = warps.knots.cols() - 1;
  const auto knot = [&](Index k) { return warps.knots(w, k); };
  const auto score = [&](Index k) { return warps.scores(w, k); };
  if (standardised <= knot(0)) return {score(0) + standardised - knot(0), 1};
  if (standardised >= knot(last)) return {score(last) + standardised - knot(last), 1};
  Index low = 0, high = last;
  while (high - low > 1) {
    const Index middle = (low + high) / 2;
    (knot(middle) <= standardised ? low : high) = middle;
  }
  const double slope = (score(high) - score(low)) / (knot(high) - knot(low));
  return {score(low) + slope * (standardised - knot(low)), slope};
}

ColumnWarps FitWarps(const Matrix& x,
                     const Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>& known) {
  ColumnWarps warps;
  std::vector<Vector> knots, scores;
  for (Index c = 0; c < x.cols(); ++c) {
    std::vector<double> cells;
    for (Index n = 0; n < x.rows(); ++n) {
      if (known(n, c)) cells.push_back(x(n, c));
    }
    const Scores all = NormalScores(cells);
    const auto different = static_cast<Index>(all.values.size());
    if (all.values.size() < kLeastValues) continue;
    Vector own_knots(kWarpKnots), own_scores(kWarpKnots);
    for (Index k = 0; k < kWarpKnots; ++k) {
      // Evenly spread over the values; of few values the last one is there several times.
      const Index at = different <= kWarpKnots ? std::min(k, different - 1)
                                               : k * (different - 1) / (kWarpKnots - 1);
      own_knots[k] = all.values[static_cast<std::size_t>(at)];
      own_scores[k] = all.scores[static_cast<std::size_t>(at)];
    }
    ColumnWarps one{{c}, own_knots.transpose(), own_scores.transpose()};
    const Vector as_is = Eigen::Map<const Vector>(cells.data(), static_cast<Index>(cells.size()));
    const Vector warped =
        as_is.unaryExpr([&](double value) { return WarpAt(one, 0, value).value; });
    if (!(SquaredCorrelation(as_is, warped) < kNormalEnough)) continue;
    warps.columns.push_back(c);
    knots.push_back(std::move(own_knots));
    scores.push_back(std::move(own_scores));
  }
  if (warps.size() == 0) return warps;
  warps.knots.resize(warps.size(), kWarpKnots);
  warps.scores.resize(warps.size(), kWarpKnots);
  for (Index w = 0; w < warps.size(); ++w) {
    warps.knots.row(w) = knots[static_cast<std::size_t>(w)];
    warps.scores.row(w) = scores[static_cast<std::size_t>(w)];
  }
  return warps;
}

void CheckWarps(const ColumnWarps& warps, Index columns) {
  const Index W = warps.size();
  const Index K = warps.knots.cols();
  const auto rises = [](const Matrix& rows) {
    return (rows.rightCols(rows.cols() - 1).array() >= rows.leftCols(rows.cols() - 1).array())
        .all();
  };
  const bool fits = W == warps.knots.rows() && W == warps.scores.rows() &&
                    K == warps.scores.cols() && (W == 0 || K == kWarpKnots) &&
                    warps.knots.allFinite() && warps.scores.allFinite() &&
                    (W == 0 || (rises(warps.knots) && rises(warps.scores)));
  const bool known = std::all_of(warps.columns.begin(), warps.columns.end(),
                                 [&](Index c) { return c >= 0 && c < columns; });
  if (!fits || !known) ThrowError("the curves of its skewed columns are out of range");
}

}  // namespace fathom
