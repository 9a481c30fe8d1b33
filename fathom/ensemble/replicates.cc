#include "fathom/ensemble/replicates.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "fathom/base/error.h"

namespace fathom {

namespace {

// Rows with the same inputs, all of them known exactly.
struct Groups {
  std::vector<std::vector<Index>> rows;  // of each group, in the order of the table
  std::vector<Index> of_row;             // [N], -1: inputs that are not known exactly
};

Groups GroupByInputs(const Moments& x) {
  Groups groups;
  groups.of_row.assign(static_cast<std::size_t>(x.rows()), -1);
  std::vector<Index> order;
  for (Index n = 0; n < x.rows(); ++n) {
    if ((x.var.row(n).array() == 0).all()) order.push_back(n);
  }
  const auto before = [&](Index a, Index b) {
    for (Index c = 0; c < x.cols(); ++c) {
      if (x.mean(a, c) != x.mean(b, c)) return x.mean(a, c) < x.mean(b, c);
    }
    return false;
  };
  std::stable_sort(order.begin(), order.end(), before);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || before(order[i - 1], order[i])) groups.rows.emplace_back();
    groups.rows.back().push_back(order[i]);
    groups.of_row[static_cast<std::size_t>(order[i])] = static_cast<Index>(groups.rows.size()) - 1;
  }
  return groups;
}

Index CountCopies(const std::vector<std::int32_t>& copies) {
  Index rows = 0;
  std::set<std::int32_t> different;
  for (const std::int32_t copy : copies) {
    if (copy < 0) continue;
    ++rows;
    different.insert(copy);
  }
  return rows - static_cast<Index>(different.size());
}

}  // namespace

ReplicateEffect FitReplicateEffect(const Vector& z, const std::vector<Index>& group_of_row) {
  constexpr double kPriorPairs = 5;
  // A few groups whose rows have nothing in common must not speak for all others. Of normal errors
  // both variances come out 8 % low, and only their ratio matters.
  constexpr double kFurthest = 2;
  struct Sums {
    double count = 0, sum = 0, squares = 0;
  };
  std::map<Index, Sums> groups;
  for (Index n = 0; n < z.size(); ++n) {
    const Index group = group_of_row[static_cast<std::size_t>(n)];
    if (group < 0) continue;
    Sums& sums = groups[group];
    const double error = std::clamp(z[n], -kFurthest, kFurthest);
    sums.count += 1;
    sums.sum += error;
    sums.squares += error * error;
  }
  double pairs = 0, within = 0, rows = 0, squares = 0;
  for (const auto& [group, sums] : groups) {
    if (sums.count < 2) continue;
    pairs += sums.count - 1;
    within += std::max(0.0, sums.squares - sums.sum * sums.sum / sums.count);
    rows += sums.count;
    squares += sums.squares;
  }
  if (pairs == 0 || squares == 0) return {};
  const double total = squares / rows;
  const double own = (within + kPriorPairs * total) / (pairs + kPriorPairs);
  return {std::max(0.0, total - own), own};
}

std::shared_ptr<const SeenRows> LearnFromReplicates(const ScaledTable& table, const Matrix& mean,
                                                    const Matrix& sd) {
  constexpr Index kLeastCopies = 10;
  constexpr double kLeastShare = 0.2;
  if (CountCopies(table.copies) < kLeastCopies || table.y.hasNaN()) return nullptr;
  const Groups groups = GroupByInputs(table.x);
  const auto G = static_cast<Index>(groups.rows.size());
  auto seen = std::make_shared<SeenRows>();
  seen->x.resize(G, table.x.cols());
  seen->mean.resize(G, table.targets());
  seen->var.resize(G, table.targets());
  for (Index g = 0; g < G; ++g)
    seen->x.row(g) = table.x.mean.row(groups.rows[static_cast<std::size_t>(g)].front());
  for (Index t = 0; t < table.targets(); ++t) {
    const Vector z = (table.y.col(t) - mean.col(t)).cwiseQuotient(sd.col(t));
    const auto [rho, s] = FitReplicateEffect(z, groups.of_row);
    if (rho < kLeastShare * (rho + s)) return nullptr;
    for (Index g = 0; g < G; ++g) {
      const std::vector<Index>& rows = groups.rows[static_cast<std::size_t>(g)];
      const auto k = static_cast<double>(rows.size());
      const double w = k * rho / (k * rho + s);
      double centre = 0, width = 0, error = 0;
      for (const Index n : rows) {
        centre += mean(n, t) / k;
        width += sd(n, t) / k;
        error += (table.y(n, t) - mean(n, t)) / k;
      }
      seen->mean(g, t) = centre + w * error;
      seen->var(g, t) = width * width * (s + rho * s / (k * rho + s)) / (rho + s);
    }
  }
  return seen;
}

}  // namespace fathom
