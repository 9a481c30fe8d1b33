#include "fathom/ensemble/blend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

namespace {

// The minimum of w'Gw over weights of these members that sum to 1, whatever their signs.
Vector SolveFor(const Matrix& G, const std::vector<Index>& members) {
  const Matrix part = G(members, members);
  Vector w = SolvePositiveDefinite(part, Vector::Ones(part.rows()));
  return w / w.sum();
}

double Weighted(const Vector& a, const Vector& b, const Vector& row_weights) {
  return row_weights.size() > 0 ? row_weights.dot(a.cwiseProduct(b)) : a.dot(b);
}

}  // namespace

// By an active set: members enter where that lowers the error most and leave when their weight
// would become negative.
Vector BlendWeights(const Matrix& errors, const Vector& row_weights) {
  const Index K = errors.cols();
  FATHOM_CHECK(K > 0 && errors.rows() > 0 && errors.allFinite());
  const Matrix weighted =
      row_weights.size() > 0 ? Matrix(row_weights.asDiagonal() * errors) : errors;
  Matrix G = errors.transpose() * weighted;
  const double ridge = std::max(G.diagonal().mean() / static_cast<double>(errors.rows()), 1e-300);
  G.diagonal().array() += ridge;
  Index best = 0;
  G.diagonal().minCoeff(&best);
  Vector w = Vector::Unit(K, best);
  std::vector<Index> active = {best};
  const Index most_rounds = 10 * K;
  for (Index round = 0; round < most_rounds; ++round) {
    // At the minimum, no member's slope is below that of the ones in use.
    const Vector slope = G * w;
    const double level = w.dot(slope);
    Index entering = 0;
    if (slope.minCoeff(&entering) >= level * (1 - 1e-9) || w[entering] > 0) break;
    active.push_back(entering);
    while (true) {
      const Vector goal = SolveFor(G, active);
      double step = 1;
      std::size_t leaving = active.size();
      for (std::size_t i = 0; i < active.size(); ++i) {
        const double from = w[active[i]];
        const double to = goal[static_cast<Index>(i)];
        if (to > 0) continue;
        const double reach = from / std::max(from - to, std::numeric_limits<double>::min());
        if (reach < step || leaving == active.size()) {
          step = std::min(step, reach);
          leaving = i;
        }
      }
      for (std::size_t i = 0; i < active.size(); ++i) {
        double& weight = w[active[i]];
        weight += step * (goal[static_cast<Index>(i)] - weight);
      }
      if (leaving == active.size()) break;
      w[active[leaving]] = 0;
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(leaving));
      if (active.size() == 1) {
        w.setZero();
        w[active[0]] = 1;
        break;
      }
    }
  }
  w = w.cwiseMax(0);
  return w / w.sum();
}

double SumOfSquares(const Vector& errors, const Vector& row_weights) {
  return Weighted(errors, errors, row_weights);
}

double BlendGain(const Vector& others, const Vector& newcomer, const Vector& row_weights) {
  const Vector better = others - newcomer;
  const double all = SumOfSquares(others, row_weights);
  const double squares = SumOfSquares(better, row_weights);
  if (!(all > 0 && squares > 0)) return 0;
  const double t = std::clamp(Weighted(others, better, row_weights) / squares, 0.0, 1.0);
  const Vector both = others - t * better;
  return 1 - SumOfSquares(both, row_weights) / all;
}

Vector PruneBlend(const Matrix& errors, const Vector& weights, double least,
                  const Vector& row_weights) {
  const auto squares_of = [&](const Vector& w) { return SumOfSquares(errors * w, row_weights); };
  const double most = (1 + least) * squares_of(weights);
  Vector kept = weights;
  while (true) {
    Vector best;
    double rises_to = std::numeric_limits<double>::infinity();
    for (Index k = 0; k < kept.size(); ++k) {
      std::vector<Index> rest;
      for (Index other = 0; other < kept.size(); ++other) {
        if (other != k && kept[other] > 0) rest.push_back(other);
      }
      if (kept[k] == 0 || rest.empty()) continue;
      Vector without = Vector::Zero(kept.size());
      without(rest) = BlendWeights(errors(Eigen::all, rest), row_weights);
      const double squares = squares_of(without);
      if (squares >= rises_to) continue;
      rises_to = squares;
      best = std::move(without);
    }
    if (!(rises_to <= most)) return kept;
    kept = std::move(best);
  }
}

Vector DoubtBlend(const Matrix& errors, const Vector& weights, Index targets,
                  const Vector& row_weights) {
  FATHOM_CHECK(errors.cols() == weights.size() && errors.rows() % targets == 0);
  const Index N = errors.rows() / targets;
  const Vector gains = errors.col(0).cwiseAbs2() - (errors * weights).cwiseAbs2();
  Vector by_row = Vector::Zero(N);  // the targets of a row are not independent
  for (Index t = 0; t < targets; ++t) by_row += gains.segment(t * N, N);
  const Vector counts = row_weights.size() > 0 ? Vector(row_weights.head(N)) : Vector::Ones(N);
  const double rows = counts.sum();
  const double mean = counts.dot(by_row) / rows;
  const double var = counts.dot((by_row.array() - mean).square().matrix()) / rows;
  const double error = std::sqrt(std::max(var, 1e-300) / rows);
  constexpr double kNothing = 1.5, kSure = 3;
  const double trust = std::clamp((mean / error - kNothing) / (kSure - kNothing), 0.0, 1.0);
  return trust * weights + (1 - trust) * Vector::Unit(weights.size(), 0);
}

}  // namespace fathom
