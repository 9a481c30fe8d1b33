#include "fathom/trees/boosted_trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "fathom/base/error.h"
#include "fathom/base/random.h"

namespace fathom {

namespace {

constexpr std::size_t kMostBins = 256;
// Above the cells of any standardised column, and a number in single precision, too.
constexpr double kAboveAll = std::numeric_limits<float>::max();

// Half way between neighbouring values; of more than `most_bins` values, between those at even
// shares of the rows.
std::vector<double> CutsBetween(std::vector<double> values, std::size_t most_bins) {
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
  if (distinct.size() <= most_bins) {
    for (const double value : distinct) cut_above(value);
  } else {
    for (std::size_t b = 1; b < most_bins; ++b) cut_above(values[b * values.size() / most_bins]);
  }
  return cuts;
}

// The cells of a table by their places among the cuts of their columns, of which there are at most
// 255: a cell of bin b is above cut b - 1 and at most cut b. Where a column has missing cells, its
// last cut is above all numbers, and the last bin, above that cut, has the missing cells.
struct BinnedTable {
  BinnedTable(const Moments& x, std::span<const Index> rows, Index columns)
      : width(static_cast<std::size_t>(columns)), bins(rows.size() * width) {
    for (Index c = 0; c < columns; ++c) {
      const auto is_missing = [&](Index n) { return IsMissing(x.mean(n, c), x.var(n, c)); };
      std::vector<double> known;
      for (const Index n : rows) {
        if (!is_missing(n)) known.push_back(x.mean(n, c));
      }
      const bool all_known = known.size() == rows.size();
      cuts.push_back(CutsBetween(std::move(known), all_known ? kMostBins : kMostBins - 1));
      if (!all_known) cuts.back().push_back(kAboveAll);
      has_missing.push_back(!all_known);
      for (std::size_t n = 0; n < rows.size(); ++n) {
        const auto place =
            is_missing(rows[n])
                ? cuts.back().end()
                : std::lower_bound(cuts.back().begin(), cuts.back().end(), x.mean(rows[n], c));
        bins[n * width + static_cast<std::size_t>(c)] =
            static_cast<std::uint8_t>(place - cuts.back().begin());
      }
    }
  }

  const std::uint8_t* Row(std::int32_t n) const {
    return &bins[static_cast<std::size_t>(n) * width];
  }
  std::size_t LastBin(Index column) const { return cuts[static_cast<std::size_t>(column)].size(); }

  std::size_t width;
  std::vector<std::vector<double>> cuts;  // [columns]
  std::vector<bool> has_missing;          // [columns]
  std::vector<std::uint8_t> bins;         // [rows, columns]
};

// The rows up to this bin go left.
struct Division {
  Index column = -1;
  std::size_t bin = 0;
  MissingCells missing = MissingCells::kBothWays;  // both ways if the column has none

  bool IsLeft(std::size_t bin_of_row, std::size_t last_bin) const {
    if (missing != MissingCells::kBothWays && bin_of_row == last_bin)
      return missing == MissingCells::kLeft;
    return bin_of_row <= bin;
  }
};

struct Sums {
  double G = 0;
  double C = 0;
  void Add(const Sums& other) {
    G += other.G;
    C += other.C;
  }
  Sums Without(const Sums& part) const { return {G - part.G, C - part.C}; }
  double Score(double penalty) const { return G * G / (C + penalty); }
};

// The sums of a node's rows by their bins, column after column.
using Histogram = std::vector<Sums>;

// Grows one tree after another on the residuals.
class TreeGrower {
 public:
  // Row n of y and of the counts is rows[n] of x.
  TreeGrower(const Moments& x, std::span<const Index> rows, Vector y, Vector counts,
             const TreeFit& options)
      : table_(x, rows, options.columns > 0 ? std::min(options.columns, x.cols()) : x.cols()),
        residual_(std::move(y)),
        counts_(std::move(counts)),
        fit_(options) {
    trees_.base = residual_.dot(counts_) / counts_.sum();
    residual_.array() -= trees_.base;
  }

  void Add(RandomStream* stream) {
    std::vector<std::int32_t> seen, others;
    for (Index n = 0; n < residual_.size(); ++n) {
      const bool sees = stream->Uniform() < fit_.share_of_rows;
      (sees ? seen : others).push_back(static_cast<std::int32_t>(n));
    }
    AskSome(stream);
    trees_.roots.push_back(static_cast<std::int32_t>(trees_.nodes.size()));
    divisions_.clear();
    Grow(seen, 0, {});
    for (const std::int32_t n : others) residual_[n] -= Newest(n);
  }

  BoostedTrees Take() { return std::move(trees_); }

 private:
  // Empty bins hold what rounding has left there.
  static constexpr double kRounding = 1e-12;
  // The best division that was found so far.
  struct Search {
    Division best;
    double most;                 // its score
    double left = 0, right = 0;  // the rows on its sides
  };

  // Chooses the columns that the next tree may ask.
  void AskSome(RandomStream* stream) {
    // Where columns are few, each of them may be needed: a tree without one of those that matter
    // together learns noise instead (docs/measurements/decisions.md).
    const Index all = std::ssize(table_.cuts);
    const auto some =
        static_cast<Index>(std::ceil(fit_.share_of_columns * static_cast<double>(all)));
    asked_ = stream->Sample(all, std::max(some, std::min(all, fit_.least_columns)));
    std::sort(asked_.begin(), asked_.end());
    begin_of_.clear();
    bins_in_all_ = 0;
    for (const Index c : asked_) {
      begin_of_.push_back(bins_in_all_);
      bins_in_all_ += CutsOf(c).size() + 1;
    }
  }

  const std::vector<double>& CutsOf(Index column) const {
    return table_.cuts[static_cast<std::size_t>(column)];
  }

  Sums SumsOf(std::int32_t n) const { return {counts_[n] * residual_[n], counts_[n]}; }

  // Rows that are too few to fill a histogram are sorted instead.
  static bool AreFew(std::span<const std::int32_t> rows) {
    constexpr std::size_t kFew = 48;
    return rows.size() <= kFew;
  }

  Histogram MakeHistogram(std::span<const std::int32_t> rows) const {
    Histogram histogram(bins_in_all_);
    for (const std::int32_t n : rows) {
      const std::uint8_t* bins = table_.Row(n);
      const Sums own = SumsOf(n);
      for (std::size_t i = 0; i < asked_.size(); ++i)
        histogram[begin_of_[i] + bins[asked_[i]]].Add(own);
    }
    return histogram;
  }

  // `histogram` is that of the rows; empty where they are few, and at the root.
  void Grow(std::span<std::int32_t> rows, int depth, Histogram histogram) {
    Sums sums;
    for (const std::int32_t n : rows) sums.Add(SumsOf(n));
    Search search{{}, sums.Score(fit_.penalty) * (1 + 1e-9)};  // rounding alone is no gain
    if (depth < fit_.depth && sums.C >= 2 * fit_.least) {
      if (AreFew(rows)) {
        SearchBySorting(rows, sums, &search);
      } else {
        if (histogram.empty()) histogram = MakeHistogram(rows);
        SearchBins(histogram, sums, &search);
      }
    }
    const Division division = search.best;
    const std::size_t own = trees_.nodes.size();
    divisions_.push_back(division);
    if (division.column < 0) {
      const double value = fit_.rate * sums.G / (sums.C + fit_.penalty);
      trees_.nodes.push_back({.value = value});
      for (const std::int32_t n : rows) residual_[n] -= value;
      return;
    }
    trees_.nodes.push_back({.column = static_cast<std::int32_t>(division.column),
                            .value = CutsOf(division.column)[division.bin],
                            .missing = division.missing});
    const auto middle = std::stable_partition(rows.begin(), rows.end(),
                                              [&](std::int32_t n) { return IsLeft(division, n); });
    const std::span<std::int32_t> left(rows.begin(), middle), right(middle, rows.end());
    Histogram of_left, of_right;
    if (depth + 1 < fit_.depth)
      SplitHistogram(left, right, std::move(histogram), &of_left, &of_right);
    Grow(left, depth + 1, std::move(of_left));
    trees_.nodes[own].right = static_cast<std::int32_t>(trees_.nodes.size());
    Grow(right, depth + 1, std::move(of_right));
  }

  // The histogram of the larger part is what that of the smaller one leaves over of both.
  void SplitHistogram(std::span<const std::int32_t> left, std::span<const std::int32_t> right,
                      Histogram both, Histogram* of_left, Histogram* of_right) const {
    const bool left_is_larger = left.size() > right.size();
    if (AreFew(left_is_larger ? left : right)) return;
    Histogram smaller = MakeHistogram(left_is_larger ? right : left);
    for (std::size_t b = 0; b < both.size(); ++b) both[b] = both[b].Without(smaller[b]);
    if (!AreFew(left)) *of_left = std::move(left_is_larger ? both : smaller);
    if (!AreFew(right)) *of_right = std::move(left_is_larger ? smaller : both);
  }

  bool IsLeft(const Division& division, std::int32_t n) const {
    return division.IsLeft(table_.Row(n)[division.column], table_.LastBin(division.column));
  }

  // Takes a division of a node with these sums if it is better. False if too few rows are on the
  // right, as they will be behind it.
  bool Try(const Division& division, const Sums& left, const Sums& sums, Search* search) const {
    const Sums right = sums.Without(left);
    if (left.C < fit_.least) return true;
    if (right.C < fit_.least) return false;
    const double score = left.Score(fit_.penalty) + right.Score(fit_.penalty);
    if (score > search->most * (1 + kRounding)) *search = {division, score, left.C, right.C};
    return true;
  }

  // First tries to divide known cells from missing ones. Then calls try_cuts(missing, left) for
  // each way of the missing cells of a node with these sums, where `left` begins with those that go
  // left. Cells that no row of the node tells about go with the larger part.
  template <class TryCuts>
  void ForEachWay(Index column, const Sums& missing, const Sums& sums, Search* search,
                  TryCuts try_cuts) const {
    if (!table_.has_missing[static_cast<std::size_t>(column)]) {
      try_cuts(MissingCells::kBothWays, Sums());
      return;
    }
    const bool are_there = missing.C > kRounding * sums.C;
    const double before = search->most;
    const Division known_or_not{column, table_.LastBin(column) - 1, MissingCells::kRight};
    if (are_there) Try(known_or_not, sums.Without(missing), sums, search);
    try_cuts(MissingCells::kRight, Sums());
    if (are_there) {
      try_cuts(MissingCells::kLeft, missing);
    } else if (search->most > before && search->left > search->right) {
      search->best.missing = MissingCells::kLeft;
    }
  }

  void SearchBins(const Histogram& histogram, const Sums& sums, Search* search) const {
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const Index c = asked_[i];
      const Sums* bins = &histogram[begin_of_[i]];
      ForEachWay(c, bins[table_.LastBin(c)], sums, search, [&](MissingCells missing, Sums left) {
        for (std::size_t b = 0; b < CutsOf(c).size(); ++b) {
          left.Add(bins[b]);
          if (!Try({c, b, missing}, left, sums, search)) break;
        }
      });
    }
  }

  void SearchBySorting(std::span<const std::int32_t> rows, const Sums& sums, Search* search) const {
    std::vector<std::uint32_t> order(rows.size());  // the bin, and the place among the rows
    constexpr int kPlaceBits = 8;
    for (const Index c : asked_) {
      for (std::size_t i = 0; i < rows.size(); ++i)
        order[i] =
            (std::uint32_t{table_.Row(rows[i])[c]} << kPlaceBits) + static_cast<std::uint32_t>(i);
      std::sort(order.begin(), order.end());
      const auto sums_at = [&](std::size_t i) {
        return SumsOf(rows[order[i] & ((1U << kPlaceBits) - 1)]);
      };
      const auto bin_at = [&](std::size_t i) { return std::size_t{order[i] >> kPlaceBits}; };
      std::size_t known = order.size();
      Sums missing;
      if (table_.has_missing[static_cast<std::size_t>(c)]) {
        while (known > 0 && bin_at(known - 1) == table_.LastBin(c)) missing.Add(sums_at(--known));
      }
      ForEachWay(c, missing, sums, search, [&](MissingCells way, Sums left) {
        for (std::size_t i = 0; i < known && i + 1 < order.size(); ++i) {
          left.Add(sums_at(i));
          const std::size_t bin = bin_at(i);
          if (bin == bin_at(i + 1)) continue;
          if (!Try({c, bin, way}, left, sums, search)) break;
        }
      });
    }
  }

  // What the newest tree says of a row.
  double Newest(std::int32_t n) const {
    const auto root = static_cast<std::size_t>(trees_.roots.back());
    std::size_t node = root;
    while (trees_.nodes[node].column >= 0) {
      node = IsLeft(divisions_[node - root], n)
                 ? node + 1
                 : static_cast<std::size_t>(trees_.nodes[node].right);
    }
    return trees_.nodes[node].value;
  }

  BinnedTable table_;
  Vector residual_;
  Vector counts_;
  const TreeFit& fit_;
  std::vector<Index> asked_;           // columns, by the tree that grows
  std::vector<std::size_t> begin_of_;  // [asked] where its bins begin in a histogram
  std::size_t bins_in_all_ = 0;        // of a histogram
  std::vector<Division> divisions_;    // [nodes] of the tree that grows
  BoostedTrees trees_;
};

// The rows that teach.
std::vector<Index> Teachers(const Moments& x, const Vector& y, const TreeFit& options,
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
    if (here.missing != MissingCells::kBothWays && IsMissing(mean[here.column], spread)) {
      node = here.missing == MissingCells::kLeft ? node + 1 : right;
      continue;
    }
    if (spread > 0) {
      const double left = 0.5 * std::erfc(-off / std::sqrt(2 * spread));
      return left * ExpectedFrom(nodes, node + 1, mean, var) +
             (1 - left) * ExpectedFrom(nodes, right, mean, var);
    }
    node = off >= 0 ? node + 1 : right;
  }
  return nodes[node].value;
}

// The mean of equally many trees each, round after round, so that the first rounds can be kept.
BoostedTrees MeanOfBags(const std::vector<BoostedTrees>& bags) {
  BoostedTrees mean;
  mean.base = bags.front().base;
  for (std::size_t round = 0; round < bags.front().roots.size(); ++round) {
    for (const BoostedTrees& bag : bags) {
      const bool last = round + 1 == bag.roots.size();
      const auto end = last ? static_cast<std::int32_t>(bag.nodes.size()) : bag.roots[round + 1];
      const auto root = static_cast<std::int32_t>(mean.nodes.size());
      mean.roots.push_back(root);
      for (std::int32_t n = bag.roots[round]; n < end; ++n) {
        TreeNode node = bag.nodes[static_cast<std::size_t>(n)];
        if (node.column < 0) {
          node.value /= static_cast<double>(bags.size());
        } else {
          node.right += root - bag.roots[round];
        }
        mean.nodes.push_back(node);
      }
    }
  }
  return mean;
}

}  // namespace

BoostedTrees FitBoostedTrees(const Moments& x, const Vector& y, const Vector& weights,
                             const TreeFit& options) {
  RandomStream stream(options.seed, 15);
  const std::vector<Index> rows = Teachers(x, y, options, &stream);
  const Vector counts = weights.size() > 0 ? Vector(weights(rows)) : Vector::Ones(std::ssize(rows));
  std::vector<BoostedTrees> bags;
  for (Index bag = 0; bag < options.bags; ++bag) {
    TreeGrower grower(x, rows, y(rows), counts, options);
    for (Index round = 0; round < options.rounds; ++round) grower.Add(&stream);
    bags.push_back(grower.Take());
  }
  return options.bags == 1 ? std::move(bags.front()) : MeanOfBags(bags);
}

double PredictTrees(const BoostedTrees& trees, const double* mean, const double* var) {
  double sum = trees.base;
  for (const std::int32_t root : trees.roots)
    sum += ExpectedFrom(trees.nodes, static_cast<std::size_t>(root), mean, var);
  return sum;
}

Matrix PredictInStages(const BoostedTrees& trees, const Moments& x, Index every) {
  const Index stages = std::ssize(trees.roots) / every;
  Matrix predicted(x.rows(), stages);
  for (Index n = 0; n < x.rows(); ++n) {
    double sum = trees.base;
    for (Index round = 0; round < stages * every; ++round) {
      const auto root = static_cast<std::size_t>(trees.roots[static_cast<std::size_t>(round)]);
      sum += ExpectedFrom(trees.nodes, root, x.mean.row(n).data(), x.var.row(n).data());
      if ((round + 1) % every == 0) predicted(n, round / every) = sum;
    }
  }
  return predicted;
}

void KeepTrees(Index count, BoostedTrees* trees) {
  const auto kept = static_cast<std::size_t>(count);
  if (kept >= trees->roots.size()) return;
  trees->nodes.resize(static_cast<std::size_t>(trees->roots[kept]));
  trees->roots.resize(kept);
}

}  // namespace fathom
