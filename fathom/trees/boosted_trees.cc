#include "fathom/trees/boosted_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "fathom/base/error.h"
#include "fathom/base/random.h"

namespace fathom {

namespace {

constexpr std::size_t kMostBins = 256;

// The cells of a column by their places among at most 255 cuts: a cell of bin b is above cut b - 1
// and at most cut b.
struct BinnedColumn {
  std::vector<double> cuts;
  std::vector<std::uint8_t> bins;  // [N]
};

// Half way between neighbouring values; of many values, between those at even shares of the rows.
std::vector<double> CutsBetween(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<double> cuts;
  const auto cut_above = [&](double low) {
    const auto high = std::upper_bound(distinct.begin(), distinct.end(), low);
    if (high == distinct.end()) return;
    const double cut = low + (*high - low) / 2;
    // Between neighbouring floating-point numbers there is none.
    if (cut < *high && (cuts.empty() || cut > cuts.back())) cuts.push_back(cut);
  };
  if (distinct.size() <= kMostBins) {
    for (const double value : distinct) cut_above(value);
  } else {
    for (std::size_t b = 1; b < kMostBins; ++b) cut_above(values[b * values.size() / kMostBins]);
  }
  return cuts;
}

BinnedColumn BinColumn(const Matrix& x, Index column, std::span<const Index> rows) {
  BinnedColumn binned;
  std::vector<double> values;
  for (const Index n : rows) values.push_back(x(n, column));
  binned.cuts = CutsBetween(values);
  for (const double value : values) {
    const auto place = std::lower_bound(binned.cuts.begin(), binned.cuts.end(), value);
    binned.bins.push_back(static_cast<std::uint8_t>(place - binned.cuts.begin()));
  }
  return binned;
}

struct Sums {
  double G = 0;
  double C = 0;
  void Add(double residual, double count) {
    G += count * residual;
    C += count;
  }
  double Score(double penalty) const { return G * G / (C + penalty); }
};

// Grows one tree after another on the residuals.
class TreeGrower {
 public:
  // Row n of the bins, of y and of the counts is rows[n] of x.
  TreeGrower(const Matrix& x, std::span<const Index> rows, Vector y, Vector counts,
             const TreeFit& options)
      : x_(x), rows_(rows), residual_(std::move(y)), counts_(std::move(counts)), fit_(options) {
    const Index columns = fit_.columns > 0 ? std::min(fit_.columns, x.cols()) : x.cols();
    for (Index c = 0; c < columns; ++c) columns_.push_back(BinColumn(x, c, rows));
    trees_.base = residual_.dot(counts_) / counts_.sum();
    residual_.array() -= trees_.base;
  }

  void Add(RandomStream* stream) {
    std::vector<std::int32_t> seen;
    for (Index n = 0; n < residual_.size(); ++n) {
      if (stream->Uniform() < fit_.share_of_rows) seen.push_back(static_cast<std::int32_t>(n));
    }
    // Where columns are few, each of them may be needed: a tree without one of those that matter
    // together learns noise instead (docs/measurements/decisions.md).
    const Index all = std::ssize(columns_);
    const auto some =
        static_cast<Index>(std::ceil(fit_.share_of_columns * static_cast<double>(all)));
    asked_ = stream->Sample(all, std::max(some, std::min(all, fit_.least_columns)));
    std::sort(asked_.begin(), asked_.end());
    trees_.roots.push_back(static_cast<std::int32_t>(trees_.nodes.size()));
    Grow(seen, 0);
    for (Index n = 0; n < residual_.size(); ++n) residual_[n] -= Newest(rows_[n]);
  }

  BoostedTrees Take() { return std::move(trees_); }

 private:
  struct Division {
    Index column = -1;
    std::size_t bin = 0;  // the last on the left
  };

  void Grow(std::span<std::int32_t> rows, int depth) {
    Sums sums;
    for (const std::int32_t n : rows) sums.Add(residual_[n], counts_[n]);
    const Division division = depth < fit_.depth ? Divide(rows, sums) : Division{};
    const std::size_t own = trees_.nodes.size();
    if (division.column < 0) {
      trees_.nodes.push_back({.value = fit_.rate * sums.G / (sums.C + fit_.penalty)});
      return;
    }
    const BinnedColumn& column = columns_[static_cast<std::size_t>(division.column)];
    trees_.nodes.push_back(
        {.column = static_cast<std::int32_t>(division.column), .value = column.cuts[division.bin]});
    const auto right = std::stable_partition(rows.begin(), rows.end(), [&](std::int32_t n) {
      return column.bins[static_cast<std::size_t>(n)] <= division.bin;
    });
    Grow({rows.begin(), right}, depth + 1);
    trees_.nodes[own].right = static_cast<std::int32_t>(trees_.nodes.size());
    Grow({right, rows.end()}, depth + 1);
  }

  Division Divide(std::span<const std::int32_t> rows, const Sums& sums) const {
    Division best;
    if (sums.C < 2 * fit_.least) return best;
    // Rounding alone is no gain.
    double most = sums.Score(fit_.penalty) * (1 + 1e-9);
    std::array<Sums, kMostBins> bins;
    for (const Index c : asked_) {
      const BinnedColumn& column = columns_[static_cast<std::size_t>(c)];
      std::fill_n(bins.begin(), column.cuts.size() + 1, Sums());
      for (const std::int32_t n : rows)
        bins[column.bins[static_cast<std::size_t>(n)]].Add(residual_[n], counts_[n]);
      Sums left;
      for (std::size_t b = 0; b < column.cuts.size(); ++b) {
        left.G += bins[b].G;
        left.C += bins[b].C;
        const Sums right{sums.G - left.G, sums.C - left.C};
        if (left.C < fit_.least) continue;
        if (right.C < fit_.least) break;
        const double score = left.Score(fit_.penalty) + right.Score(fit_.penalty);
        if (!(score > most)) continue;
        most = score;
        best = {c, b};
      }
    }
    return best;
  }

  double Newest(Index row) const {
    auto node = static_cast<std::size_t>(trees_.roots.back());
    while (trees_.nodes[node].column >= 0) {
      const TreeNode& here = trees_.nodes[node];
      node = x_(row, here.column) <= here.value ? node + 1 : static_cast<std::size_t>(here.right);
    }
    return trees_.nodes[node].value;
  }

  const Matrix& x_;
  std::span<const Index> rows_;
  Vector residual_;
  Vector counts_;
  const TreeFit& fit_;
  std::vector<BinnedColumn> columns_;
  std::vector<Index> asked_;  // columns, by the tree that grows
  BoostedTrees trees_;
};

// The rows that teach.
std::vector<Index> Teachers(const Matrix& x, const Vector& y, const TreeFit& options,
                            RandomStream* stream) {
  std::vector<Index> known;
  for (Index n = 0; n < y.size(); ++n) {
    if (!std::isnan(y[n])) known.push_back(n);
  }
  FATHOM_CHECK(!known.empty() && x.rows() == y.size() && x.cols() > 0);
  constexpr Index kLeast = 1000;
  const Index most = std::max(kLeast, options.most_cells / x.cols());
  if (std::ssize(known) <= most) return known;
  std::vector<Index> some;
  for (const Index i : stream->Sample(std::ssize(known), most)) some.push_back(known[i]);
  std::sort(some.begin(), some.end());
  return some;
}

// Recursion as deep as the tree.
double ExpectedFrom(const std::vector<TreeNode>& nodes, std::size_t node, const double* mean,
                    const double* var) {
  while (nodes[node].column >= 0) {
    const TreeNode& here = nodes[node];
    const auto right = static_cast<std::size_t>(here.right);
    const double off = here.value - mean[here.column];
    const double spread = var[here.column];
    if (spread > 0) {
      const double left = 0.5 * std::erfc(-off / std::sqrt(2 * spread));
      return left * ExpectedFrom(nodes, node + 1, mean, var) +
             (1 - left) * ExpectedFrom(nodes, right, mean, var);
    }
    node = off >= 0 ? node + 1 : right;
  }
  return nodes[node].value;
}

}  // namespace

BoostedTrees FitBoostedTrees(const Matrix& x, const Vector& y, const Vector& weights,
                             const TreeFit& options) {
  RandomStream stream(options.seed, 15);
  const std::vector<Index> rows = Teachers(x, y, options, &stream);
  const Vector counts = weights.size() > 0 ? Vector(weights(rows)) : Vector::Ones(std::ssize(rows));
  TreeGrower grower(x, rows, y(rows), counts, options);
  for (Index round = 0; round < options.rounds; ++round) grower.Add(&stream);
  return grower.Take();
}

double PredictTrees(const BoostedTrees& trees, const double* mean, const double* var) {
  double sum = trees.base;
  for (const std::int32_t root : trees.roots)
    sum += ExpectedFrom(trees.nodes, static_cast<std::size_t>(root), mean, var);
  return sum;
}

Matrix PredictInStages(const BoostedTrees& trees, const Matrix& x, Index every) {
  const Vector certain = Vector::Zero(x.cols());
  const Index stages = std::ssize(trees.roots) / every;
  Matrix predicted(x.rows(), stages);
  for (Index n = 0; n < x.rows(); ++n) {
    double sum = trees.base;
    for (Index round = 0; round < stages * every; ++round) {
      const auto root = static_cast<std::size_t>(trees.roots[static_cast<std::size_t>(round)]);
      sum += ExpectedFrom(trees.nodes, root, x.row(n).data(), certain.data());
      if ((round + 1) % every == 0) predicted(n, round / every) = sum;
    }
  }
  return predicted;
}

void KeepTrees(Index rounds, BoostedTrees* trees) {
  const auto kept = static_cast<std::size_t>(rounds);
  if (kept >= trees->roots.size()) return;
  trees->nodes.resize(static_cast<std::size_t>(trees->roots[kept]));
  trees->roots.resize(kept);
}

}  // namespace fathom
