#include "fathom/ensemble/edges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fathom/distribution/prediction.h"
#include "fathom/ensemble/neighbour_candidate.h"
#include "fathom/fitted/neighbour_expert.h"
#include "fathom/linear/ridge.h"

namespace fathom {

namespace {

constexpr Index kMostEdgeColumns = 4;
constexpr Index kLeastRows = 5;                  // of a block
constexpr Index kMostBlockRows = 64;             // of a block that are predicted
constexpr double kPowers[] = {1, 0.5, 0.25, 2};  // of equals, the first
constexpr double kMargin = 0.05;                 // of a column's range, if blocks reach beyond it
constexpr Course kCourses[] = {Course::kLine, Course::kSlope, Course::kStay};

// Rows beyond the others in one column, and those that stay.
struct Block {
  Index column = 0;
  double edge = 0;  // of those that stay, with the margin
  std::vector<Index> inside = {};
  std::vector<Index> outside = {};  // those beyond the margin
};

// What was predicted of a block without its rows.
struct Outcome {
  Vector distance;             // [rows]
  std::vector<Matrix> errors;  // [courses] of [rows, targets]
  Matrix var;                  // [rows, targets], at the edge
};

// The shortest lengthscale of each column over the targets.
Vector ShortestOf(const std::vector<NeighbourGp>& gps, Index columns) {
  Vector shortest = gps[0].lengthscales.head(columns);
  for (const NeighbourGp& gp : gps) shortest = shortest.cwiseMin(gp.lengthscales.head(columns));
  return shortest;
}

std::vector<Index> MostRelevant(const Vector& lengthscales) {
  std::vector<Index> columns(static_cast<std::size_t>(lengthscales.size()));
  std::iota(columns.begin(), columns.end(), Index{0});
  std::stable_sort(columns.begin(), columns.end(),
                   [&](Index a, Index b) { return lengthscales[a] < lengthscales[b]; });
  columns.resize(std::min(columns.size(), static_cast<std::size_t>(kMostEdgeColumns)));
  return columns;
}

// About this share of the rows at the upper (sign 1) or lower (sign -1) end of a column; empty
// where the column has no such end, as where it takes few values.
Block FindBlock(const Moments& x, Index column, double sign, double share, double margin) {
  const Index N = x.rows();
  Vector values = sign * x.mean.col(column);
  std::sort(values.begin(), values.end());
  const auto inside = static_cast<Index>((1 - share) * static_cast<double>(N));
  Block block{.column = column, .edge = sign * values[std::max<Index>(inside - 1, 0)]};
  const double edge = block.edge;
  block.edge += sign * margin * (sign * edge - values[0]);
  for (Index n = 0; n < N; ++n) {
    if (sign * (x.mean(n, column) - edge) <= 0) block.inside.push_back(n);
    if (sign * (x.mean(n, column) - block.edge) > 0) block.outside.push_back(n);
  }
  const auto rows = static_cast<Index>(block.outside.size());
  if (rows < kLeastRows || 4 * rows < static_cast<Index>(share * static_cast<double>(N)))
    block.outside.clear();
  return block;
}

Moments WithTrend(const Moments& x, const Matrix& trend) {
  Moments both(x.rows(), x.cols() + trend.cols());
  both.mean << x.mean, trend;
  both.var << x.var, Matrix::Zero(trend.rows(), trend.cols());
  return both;
}

Outcome Predict(const ScaledTable& table, const std::vector<NeighbourGp>& gps,
                const Vector& lengthscales, const Block& block, const ThreadPool& pool) {
  std::vector<Index> asked;
  const auto rows = static_cast<Index>(block.outside.size());
  const Index count = std::min(rows, kMostBlockRows);
  for (Index i = 0; i < count; ++i) asked.push_back(block.outside[i * rows / count]);
  const Moments known = table.x.Rows(block.inside);
  const Matrix y = table.y(block.inside, Eigen::all);
  const Vector weights = table.weights.size() > 0 ? Vector(table.weights(block.inside)) : Vector();
  const Ridge line = FitRidge(known, y, weights).ridge;
  const Matrix trend = PredictRidge(line, known).mean;
  const NeighbourExpert neighbours(
      gps, {WithTrend(known, trend), y - trend, Vector::Zero(y.cols()), weights}, kNeighbours);

  const Moments x = table.x.Rows(asked);
  Moments edge = x;
  edge.mean.col(block.column).setConstant(block.edge);
  const Matrix line_at_edge = PredictRidge(line, edge).mean;
  const Prediction at_edge =
      neighbours.Prepare(pool, Precision::kDouble)->Predict(WithTrend(edge, line_at_edge), {});
  const Matrix mean = at_edge.Mean() + line_at_edge;
  Outcome outcome{.distance = DistancesBeyond(lengthscales, x.mean, edge.mean),
                  .errors = {},
                  .var = at_edge.Variance()};
  for (const Course course : kCourses) {
    outcome.errors.emplace_back(
        table.y(asked, Eigen::all) -
        MeanBeyond(course, outcome.distance, line_at_edge, PredictRidge(line, x).mean, mean));
  }
  return outcome;
}

// Rows may lack some of several targets.
double MeanOfKnown(const Matrix& values) {
  const auto unknown = values.array().isNaN();
  const auto known = static_cast<double>(values.size() - unknown.count());
  return unknown.select(0, values).sum() / std::max(known, 1.0);
}

// The course that is least wrong, block by block. A later one must be clearly better.
std::size_t BestCourse(const std::vector<Outcome>& outcomes) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < std::size(kCourses); ++c) {
    double sum = 0;
    for (const Outcome& outcome : outcomes) sum += MeanOfKnown(outcome.errors[c].cwiseAbs());
    constexpr double kClearly = 0.95;
    if (!(sum < kClearly * least)) continue;
    least = sum;
    best = c;
  }
  return best;
}

// The mean log density of a target's errors if they grow like this; each block counts as one.
double GrowthScore(const std::vector<Outcome>& outcomes, std::size_t course, Index target,
                   double power, double growth) {
  double sum = 0;
  for (const Outcome& outcome : outcomes) {
    const Vector e = outcome.errors[course].col(target);
    double block = 0;
    for (Index n = 0; n < e.size(); ++n) {
      if (std::isnan(e[n])) continue;
      const double more = growth * std::pow(outcome.distance[n], power);
      block += LogNormalPdf(e[n], 0, outcome.var(n, target) + more * more);
    }
    sum += block / static_cast<double>(e.size());
  }
  return sum;
}

// Finds power and growth on a grid: a handful of blocks does not tell more.
void FitGrowth(const std::vector<Outcome>& outcomes, std::size_t course, Beyond* beyond) {
  const Index T = outcomes[0].var.cols();
  double best = -std::numeric_limits<double>::infinity();
  for (const double power : kPowers) {
    // A line is off by its slope, so in proportion to the distance at most.
    if (beyond->course == Course::kLine && power > 1) continue;
    Vector growth(T);
    double score = 0;
    for (Index t = 0; t < T; ++t) {
      double most = -std::numeric_limits<double>::infinity();
      constexpr double kLeast = 1e-4, kMost = 100, kStep = 1.25;
      for (double tried = kLeast; tried < kMost; tried *= kStep) {
        const double here = GrowthScore(outcomes, course, t, power, tried);
        if (!(here > most)) continue;
        most = here;
        growth[t] = tried;
      }
      score += most;
    }
    if (!(score > best)) continue;
    best = score;
    beyond->power = power;
    beyond->growth = growth;
  }
  // The errors of a block hang together: it is one draw of the slope, and few draws say little
  // about their width. With n of them, the variance of a Student t.
  const auto n = static_cast<double>(outcomes.size());
  beyond->growth *= std::sqrt(n / std::max(n - 2, n / 4));
}

}  // namespace

std::shared_ptr<const Beyond> FitBeyond(const ScaledTable& table,
                                        const std::vector<NeighbourGp>& on_line,
                                        const ThreadPool& pool) {
  auto beyond = std::make_shared<Beyond>();
  beyond->lengthscales = ShortestOf(on_line, table.x.cols());
  std::vector<Outcome> outcomes;
  // Blocks may lie in the margin, as those of a column of two clusters do.
  for (const double margin : {kMargin, 0.0}) {
    beyond->margin = margin;
    for (const Index column : MostRelevant(beyond->lengthscales)) {
      for (const double share : {0.1, 0.2}) {
        for (const double sign : {-1.0, 1.0}) {
          const Block block = FindBlock(table.x, column, sign, share, margin);
          if (!block.outside.empty())
            outcomes.push_back(Predict(table, on_line, beyond->lengthscales, block, pool));
        }
      }
    }
    if (!outcomes.empty()) break;
  }
  if (outcomes.empty()) return nullptr;
  const Ridge line = FitRidge(table.x, table.y, table.weights, table.copies).ridge;
  beyond->slope = line.weights;
  beyond->intercept = line.intercept - line.weights.transpose() * line.centre;
  const std::size_t course = BestCourse(outcomes);
  beyond->course = kCourses[course];
  // What stays where it is has a range. On a log scale, a spread without end would make the mean
  // absurd.
  constexpr double kMostOfStay = 3;  // times the spread of the target
  if (beyond->course == Course::kStay) beyond->limit = kMostOfStay;
  FitGrowth(outcomes, course, beyond.get());
  return beyond;
}

}  // namespace fathom
