#include "fathom/neighbour/neighbour_gp.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/neighbour/neighbour_gp.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "fathom/neighbour/correlation-inl.h"
#include "fathom/neighbour/lane_rows-inl.h"
#include "fathom/neighbour/lane_triangle-inl.h"

#ifndef FATHOM_NEIGHBOUR_WORK_
#define FATHOM_NEIGHBOUR_WORK_
namespace fathom::neighbour {

// One call of the loops below: rows to predict and, for a gradient, what to add it to.
struct Work {
  const NeighbourGp& gp;
  const NeighbourData& data;
  const NeighbourQueries& queries;
  double* mean = nullptr;  // [rows]
  double* var = nullptr;
  NeighbourGradient* gradient = nullptr;  // null: moments alone
};

}  // namespace fathom::neighbour
#endif  // FATHOM_NEIGHBOUR_WORK_

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Predicts as many rows at once as a vector has lanes: lane i belongs to row i, which has m
// neighbours.
template <typename T>
class Lanes : private Laned<T> {
 public:
  FATHOM_LANED(T);

  explicit Lanes(const neighbour::Work& work)
      : work_(work),
        rows_(work.data, work.queries, work.gp.lengthscales),
        m_(rows_.NumNeighbours()),
        D_(rows_.NumColumns()),
        L_(m_),
        k_(LaneSize(m_)),
        k_slope_(LaneSize(m_)),
        c_(work.gradient != nullptr ? LaneSize(TriangleAt(m_, 0)) : 0),
        c_slope_(c_.size()),
        a_(LaneSize(m_)),
        w_(LaneSize(m_)),
        d_lengthscales_(LaneSize(D_)) {
    std::fill(d_lengthscales_.begin(), d_lengthscales_.end(), T{0});
  }

  // With the gradient, or the moments alone.
  template <Correlation kKind, bool kGradient>
  double Run() {
    double total = 0;
    const auto count = static_cast<Index>(work_.queries.rows.size());
    for (Index first = 0; first < count; first += kLanes) {
      rows_.Gather(first, L_.Row(m_));
      L_.Factorize([this](Index i) HWY_ATTR { Covariances<kKind, kGradient>(i); });
      total += Predict(first);
      if constexpr (kGradient) Backward();
    }
    if constexpr (kGradient) AddGradient();
    return total;
  }

 private:
  // Row i of K in its place of L, and of the row v k below y. The correlations are kept for the
  // gradient.
  template <Correlation kKind, bool kGradient>
  HWY_INLINE void Covariances(Index i) {
    const D d;
    const V variance = this->Set(work_.gp.variance);
    V slope;
    const V own = Correlate<kKind>(d, rows_.DistanceToRow(i), &slope);
    if constexpr (kGradient) {
      StoreAt(own, k_, i);
      StoreAt(slope, k_slope_, i);
    }
    L_.Set(m_ + 1, i, hn::Mul(variance, own));
    Index j = 0;
    for (; j + kBlock <= i; j += kBlock) CovariancesFrom<kKind, kGradient, kBlock>(i, j, variance);
    for (; j < i; ++j) CovariancesFrom<kKind, kGradient, 1>(i, j, variance);
    const V noise = this->Set(work_.gp.noise);
    L_.Set(i, i, hn::MulAdd(noise, rows_.Noise(i), variance));
  }

  template <Correlation kKind, bool kGradient, Index kCount>
  HWY_INLINE void CovariancesFrom(Index i, Index j, V variance) {
    V r2[kCount];
    rows_.template Distances<kCount>(i, j, r2);
    for (Index b = 0; b < kCount; ++b) {
      V slope;
      const V c = Correlate<kKind>(D(), r2[b], &slope);
      if constexpr (kGradient) {
        StoreAt(c, c_, TriangleAt(i - 1, j + b));
        StoreAt(slope, c_slope_, TriangleAt(i - 1, j + b));
      }
      L_.Set(i, j + b, hn::Mul(variance, c));
    }
  }

  // [neighbour-moments]; returns the sum of log densities.
  double Predict(Index first) {
    const D d;
    const V variance = this->Set(work_.gp.variance);
    V mean = hn::Zero(d);
    V explained = hn::Zero(d);
    for (Index i = 0; i < m_; ++i) {
      const V w = L_.Get(m_ + 1, i);
      mean = hn::MulAdd(L_.Get(m_, i), w, mean);
      explained = hn::MulAdd(w, w, explained);
    }
    // Rounding may take more than all of the variance away; the noise is always left.
    const V noise = this->Set(work_.gp.noise);
    const V var = hn::Add(noise, hn::Max(hn::Zero(d), hn::Sub(variance, explained)));
    hn::Store(mean, d, mean_);
    hn::Store(var, d, var_);
    double total = 0;
    const auto count = static_cast<Index>(work_.queries.rows.size());
    for (Index lane = 0; lane < kLanes && first + lane < count; ++lane) {
      if (!std::isfinite(mean_[lane]) || !std::isfinite(var_[lane]))
        throw NumericalError("the covariance of a row's neighbours is not positive definite");
      if (work_.mean != nullptr) work_.mean[first + lane] = mean_[lane];
      if (work_.var != nullptr) work_.var[first + lane] = var_[lane];
      if (work_.gradient == nullptr) continue;
      const Index row = work_.queries.rows[static_cast<std::size_t>(first + lane)];
      const double error = work_.data.Own(row) - mean_[lane];
      const double v = var_[lane];
      g_mean_[lane] = static_cast<T>(error / v);
      g_var_[lane] = static_cast<T>(0.5 * (error * error / v - 1) / v);
      total -= 0.5 * rows_.Count(lane) * (std::log(2 * std::numbers::pi * v) + error * error / v);
    }
    return total;
  }

  // [neighbour-gradient]. The slopes become the gradient with respect to the logarithm of the
  // lengthscales per squared distance of one column: r2 falls by twice a column's part of it when
  // that logarithm grows.
  void Backward() {
    L_.SolveBackward(&a_, &w_);
    const D d;
    const V counts = rows_.Counts();
    const V g_mean = hn::Mul(counts, hn::Load(d, g_mean_));
    const V g_var = hn::Mul(counts, hn::Load(d, g_var_));
    const V falls = this->Set(-2 * work_.gp.variance);
    V d_variance = g_var;
    V d_noise = g_var;
    const V two_g_var = hn::Add(g_var, g_var);
    for (Index i = 0; i < m_; ++i) {
      const V a = LoadAt(a_, i);
      const V w = LoadAt(w_, i);
      const V dk = hn::Sub(hn::Mul(g_mean, a), hn::Mul(two_g_var, w));
      d_variance = hn::MulAdd(dk, LoadAt(k_, i), d_variance);
      StoreAt(hn::Mul(hn::Mul(dk, falls), LoadAt(k_slope_, i)), k_slope_, i);
      const V d_diagonal = hn::Mul(w, hn::Sub(hn::Mul(g_var, w), hn::Mul(g_mean, a)));
      d_variance = hn::Add(d_variance, d_diagonal);
      d_noise = hn::MulAdd(d_diagonal, rows_.Noise(i), d_noise);
      // Both K_ij and K_ji.
      const V by_w = hn::Sub(hn::Mul(two_g_var, w), hn::Mul(g_mean, a));
      const V by_a = hn::Mul(g_mean, w);
      for (Index j = 0; j < i; ++j) {
        const Index pair = TriangleAt(i - 1, j);
        const V dK = hn::NegMulAdd(by_a, LoadAt(a_, j), hn::Mul(by_w, LoadAt(w_, j)));
        d_variance = hn::MulAdd(dK, LoadAt(c_, pair), d_variance);
        StoreAt(hn::Mul(hn::Mul(dK, falls), LoadAt(c_slope_, pair)), c_slope_, pair);
      }
    }
    Index q = 0;
    for (; q + kBlock <= D_; q += kBlock) AddLengthscales<kBlock>(q);
    for (; q < D_; ++q) AddLengthscales<1>(q);
    hn::Store(d_variance, d, sums_);
    for (const T lane : sums_) d_variance_ += lane;
    hn::Store(d_noise, d, sums_);
    for (const T lane : sums_) d_noise_ += lane;
  }

  // Adds the gradient of the lengthscales of kCount columns, from q on.
  template <Index kCount>
  HWY_INLINE void AddLengthscales(Index q) {
    V sum[kCount];
    for (Index c = 0; c < kCount; ++c) sum[c] = LoadAt(d_lengthscales_, q + c);
    for (Index i = 0; i < m_; ++i) {
      V xi[kCount];
      const V own = LoadAt(k_slope_, i);
      for (Index c = 0; c < kCount; ++c) {
        xi[c] = rows_.X(i, q + c);
        sum[c] = hn::MulAdd(hn::Mul(own, xi[c]), xi[c], sum[c]);
        if (rows_.Uncertain()) sum[c] = hn::MulAdd(own, rows_.Uncertainty(i, -1, q + c), sum[c]);
      }
      for (Index j = 0; j < i; ++j) {
        const V slope = LoadAt(c_slope_, TriangleAt(i - 1, j));
        for (Index c = 0; c < kCount; ++c) {
          const V x = hn::Sub(xi[c], rows_.X(j, q + c));
          sum[c] = hn::MulAdd(hn::Mul(slope, x), x, sum[c]);
        }
        if (!rows_.Uncertain()) continue;
        for (Index c = 0; c < kCount; ++c)
          sum[c] = hn::MulAdd(slope, rows_.Uncertainty(i, j, q + c), sum[c]);
      }
    }
    for (Index c = 0; c < kCount; ++c) StoreAt(sum[c], d_lengthscales_, q + c);
  }

  void AddGradient() {
    NeighbourGradient& gradient = *work_.gradient;
    for (Index q = 0; q < D_; ++q) {
      for (Index lane = 0; lane < kLanes; ++lane)
        gradient.log_lengthscales[q] += d_lengthscales_[q * kLanes + lane];
    }
    gradient.log_variance += work_.gp.variance * d_variance_;
    gradient.log_noise += work_.gp.noise * d_noise_;
  }

  const neighbour::Work& work_;
  LaneRows<T> rows_;
  Index m_, D_;
  LaneTriangle<T> L_;   // of the neighbours' covariances; below it y and k
  Buffer k_, k_slope_;  // correlations with the row
  Buffer c_, c_slope_;  // correlations among neighbours i > j, at (i - 1, j) of a triangle
  Buffer a_, w_;
  Buffer d_lengthscales_;
  double d_variance_ = 0, d_noise_ = 0;
  HWY_ALIGN T mean_[kLanes] = {}, var_[kLanes] = {};
  HWY_ALIGN T g_mean_[kLanes] = {}, g_var_[kLanes] = {}, sums_[kLanes] = {};
};

template <typename T, bool kGradient>
double RunLanesOf(const neighbour::Work& work) {
  Lanes<T> lanes(work);
  switch (work.gp.correlation) {
    case Correlation::kMatern12:
      return lanes.template Run<Correlation::kMatern12, kGradient>();
    case Correlation::kMatern32:
      return lanes.template Run<Correlation::kMatern32, kGradient>();
    case Correlation::kMatern52:
      return lanes.template Run<Correlation::kMatern52, kGradient>();
    case Correlation::kSe:
      return lanes.template Run<Correlation::kSe, kGradient>();
  }
  return 0;
}

double RunLanes(const neighbour::Work& work) {
  if (work.gradient != nullptr) return RunLanesOf<double, true>(work);
  return work.queries.single ? RunLanesOf<float, false>(work) : RunLanesOf<double, false>(work);
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

namespace {

HWY_EXPORT(RunLanes);

double Run(const neighbour::Work& work) {
  FATHOM_CHECK(work.queries.neighbours.cols() > 0 &&
               work.queries.neighbours.rows() == static_cast<Index>(work.queries.rows.size()));
  FATHOM_CHECK(work.gp.lengthscales.size() == work.data.x.cols());
  if (work.queries.rows.empty()) return 0;
  return HWY_DYNAMIC_DISPATCH(RunLanes)(work);
}

}  // namespace

bool SingleIsEnough(const NeighbourGp& gp, const NeighbourData& data) {
  constexpr double kMostRatio = 0.5;
  double weight = 1;
  for (const double w : data.weights) weight = std::max(weight, w);
  return gp.variance * weight <= kMostRatio * gp.noise;
}

void NeighbourMoments(const NeighbourGp& gp, const NeighbourData& data,
                      const NeighbourQueries& queries, double* mean, double* var) {
  Run({.gp = gp, .data = data, .queries = queries, .mean = mean, .var = var});
}

double LeaveOneOut(const NeighbourGp& gp, const NeighbourData& data, std::span<const Index> rows,
                   const Neighbours& neighbours, NeighbourGradient* gradient) {
  const NeighbourQueries queries{data.x, rows, neighbours};
  return Run({.gp = gp, .data = data, .queries = queries, .gradient = gradient});
}

}  // namespace fathom
#endif  // HWY_ONCE
