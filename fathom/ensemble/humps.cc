#include "fathom/ensemble/humps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace fathom {

Humps FindHumps(const Vector& errors, const Vector& weights) {
  const Index N = errors.size();
  std::vector<Index> order(static_cast<std::size_t>(N));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return errors[a] < errors[b]; });
  const auto weight = [&](Index n) { return weights.size() > 0 ? weights[n] : 1.0; };
  double all = 0, sum = 0, squares = 0;
  for (const Index n : order) {
    all += weight(n);
    sum += weight(n) * errors[n];
    squares += weight(n) * errors[n] * errors[n];
  }
  // The tails of one hump are no second one.
  constexpr double kLeastShare = 0.1;
  // In standard deviations within a hump: a Gaussian that is cut in two has 2.6, a uniform 3.5.
  constexpr double kClearlyApart = 4;
  double best = 0, below = 0, sum_below = 0;
  Humps humps;
  for (Index i = 0; i + 1 < N; ++i) {
    const Index n = order[static_cast<std::size_t>(i)];
    below += weight(n);
    sum_below += weight(n) * errors[n];
    const double share = below / all;
    const double next = errors[order[static_cast<std::size_t>(i + 1)]];
    if (share < kLeastShare || share > 1 - kLeastShare || !(next > errors[n])) continue;
    const double gap = (sum - sum_below) / (all - below) - sum_below / below;
    const double explained = share * (1 - share) * gap * gap;  // of the variance
    if (explained <= best) continue;
    best = explained;
    humps = {gap, 0.5 * (errors[n] + next)};
  }
  const double mean = sum / all;
  const double within = std::sqrt(std::max(squares / all - mean * mean - best, 0.0));
  return humps.gap > kClearlyApart * within ? humps : Humps{};
}

}  // namespace fathom
