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
#include "fathom/base/simd_exp-inl.h"

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

using D = hn::CappedTag<double, static_cast<std::size_t>(kSimdPadding)>;
using V = hn::Vec<D>;

// c(r2), and *slope = dc / dr2. Matern 1/2 has no slope at 0; it counts only times r2, which is 0.
template <Correlation kKind>
HWY_INLINE V Correlate(D d, V r2, V* slope) {
  const V one = hn::Set(d, 1.0);
  if constexpr (kKind == Correlation::kSe) {
    const V c = Exp(d, hn::Mul(hn::Set(d, -0.5), r2));
    *slope = hn::Mul(hn::Set(d, -0.5), c);
    return c;
  } else if constexpr (kKind == Correlation::kMatern12) {
    const V r = hn::Sqrt(r2);
    const V c = Exp(d, hn::Neg(r));
    *slope = hn::Div(hn::Mul(hn::Set(d, -0.5), c), hn::Max(r, hn::Set(d, 1e-150)));
    return c;
  } else if constexpr (kKind == Correlation::kMatern32) {
    const V r = hn::Sqrt(hn::Mul(hn::Set(d, 3.0), r2));
    const V e = Exp(d, hn::Neg(r));
    *slope = hn::Mul(hn::Set(d, -1.5), e);
    return hn::Mul(hn::Add(one, r), e);
  } else {
    const V r = hn::Sqrt(hn::Mul(hn::Set(d, 5.0), r2));
    const V e = Exp(d, hn::Neg(r));
    *slope = hn::Mul(hn::Mul(hn::Set(d, -5.0 / 6), hn::Add(one, r)), e);
    return hn::Mul(hn::MulAdd(hn::Mul(r, r), hn::Set(d, 1.0 / 3), hn::Add(one, r)), e);
  }
}

// As many rows as a vector has lanes, side by side: element i of a vector of lanes is row i's. The
// m neighbours stand relative to their row, which is so at the origin.
class Lanes {
 public:
  Lanes(const neighbour::Work& work)
      : work_(work),
        m_(work.queries.neighbours.cols()),
        D_(work.data.x.cols()),
        uncertain_((work.data.x.var.array() > 0).any() || (work.queries.x.var.array() > 0).any()),
        inverse_(work.gp.lengthscales.cwiseInverse()),
        x_(Size(m_ * D_)),
        u_(uncertain_ ? Size((m_ + 1) * D_) : 0),
        y_(Size(m_)),
        noise_(Size(m_)),
        k_(Size(m_)),
        k_slope_(Size(m_)),
        L_(Size(Pairs() + m_)),
        c_(Size(Pairs())),
        c_slope_(Size(Pairs())),
        a_(Size(m_)),
        w_(Size(m_)),
        d_lengthscales_(Size(D_)) {
    std::fill_n(d_lengthscales_.data(), d_lengthscales_.size(), 0.0);
  }

  template <Correlation kKind>
  double Run() {
    double total = 0;
    const auto count = static_cast<Index>(work_.queries.rows.size());
    for (Index first = 0; first < count; first += kLanes) {
      Gather(first);
      Covariances<kKind>();
      Factorize();
      total += Predict(first);
      if (work_.gradient != nullptr) Backward();
    }
    if (work_.gradient != nullptr) AddGradient();
    return total;
  }

 private:
  static Index Size(Index vectors) { return vectors * kLanes; }
  Index Pairs() const { return m_ * (m_ - 1) / 2; }

  // Lanes behind the last row repeat it, and count nothing.
  void Gather(Index first) {
    const auto count = static_cast<Index>(work_.queries.rows.size());
    const Moments& x = work_.data.x;
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Index place = std::min(first + lane, count - 1);
      const Index row = work_.queries.rows[static_cast<std::size_t>(place)];
      const bool training = &work_.queries.x == &x;
      const Index view = training ? work_.data.View(row) : 0;
      counts_[lane] = first + lane >= count ? 0 : training ? work_.data.Weight(row) : 1;
      const double* query = &work_.queries.x.mean(row, 0);
      const std::int32_t* neighbours = &work_.queries.neighbours(place, 0);
      for (Index i = 0; i < m_; ++i) {
        const std::int32_t n = neighbours[i];
        y_[i * kLanes + lane] = n < 0 ? 0 : work_.data.y(n, view);
        noise_[i * kLanes + lane] = n < 0 ? 1 : 1 / work_.data.Weight(n);
        for (Index q = 0; q < D_; ++q) {
          // What is not there stands so far away, and so far apart, that it correlates with
          // nothing.
          constexpr double kFar = 1e6;
          x_[(i * D_ + q) * kLanes + lane] =
              n < 0 ? kFar * static_cast<double>(i + 1) : (x.mean(n, q) - query[q]) * inverse_[q];
        }
      }
      if (uncertain_) GatherVariances(lane, row, neighbours);
    }
  }

  void GatherVariances(Index lane, Index row, const std::int32_t* neighbours) {
    for (Index i = 0; i <= m_; ++i) {
      const double* var = i == m_             ? &work_.queries.x.var(row, 0)
                          : neighbours[i] < 0 ? nullptr
                                              : &work_.data.x.var(neighbours[i], 0);
      for (Index q = 0; q < D_; ++q) {
        u_[(i * D_ + q) * kLanes + lane] = var == nullptr ? 0 : var[q] * inverse_[q] * inverse_[q];
      }
    }
  }

  // The part of column q in the squared distance of neighbours i > j, or of i and the row itself.
  V ColumnDistance(Index i, Index j, Index q) const {
    const V difference =
        j < 0 ? Load(x_, i * D_ + q) : hn::Sub(Load(x_, i * D_ + q), Load(x_, j * D_ + q));
    V r2 = hn::Mul(difference, difference);
    if (uncertain_) {
      const Index other = j < 0 ? m_ : j;
      r2 = hn::Add(r2, hn::Add(Load(u_, i * D_ + q), Load(u_, other * D_ + q)));
    }
    return r2;
  }

  V Distance(Index i, Index j) const {
    const D d;
    V r2 = hn::Zero(d);
    if (uncertain_) {
      for (Index q = 0; q < D_; ++q) r2 = hn::Add(r2, ColumnDistance(i, j, q));
      return r2;
    }
    const double* xi = &x_[i * D_ * kLanes];
    if (j < 0) {
      for (Index q = 0; q < D_; ++q) {
        const V x = hn::Load(d, xi + q * kLanes);
        r2 = hn::MulAdd(x, x, r2);
      }
      return r2;
    }
    const double* xj = &x_[j * D_ * kLanes];
    for (Index q = 0; q < D_; ++q) {
      const V x = hn::Sub(hn::Load(d, xi + q * kLanes), hn::Load(d, xj + q * kLanes));
      r2 = hn::MulAdd(x, x, r2);
    }
    return r2;
  }

  // k, and K in the places of L. The correlations are kept for the gradient.
  template <Correlation kKind>
  void Covariances() {
    const D d;
    const V variance = hn::Set(d, work_.gp.variance);
    const V noise = hn::Set(d, work_.gp.noise);
    Index pair = 0;
    for (Index i = 0; i < m_; ++i) {
      V slope;
      const V own = Correlate<kKind>(d, Distance(i, -1), &slope);
      Store(own, k_, i);
      Store(slope, k_slope_, i);
      for (Index j = 0; j < i; ++j, ++pair) {
        const V c = Correlate<kKind>(d, Distance(i, j), &slope);
        Store(c, c_, pair);
        Store(slope, c_slope_, pair);
        Store(hn::Mul(variance, c), L_, At(i, j));
      }
      Store(hn::MulAdd(noise, Load(noise_, i), variance), L_, At(i, i));
    }
  }

  static Index At(Index i, Index j) { return i * (i + 1) / 2 + j; }

  // Cholesky in place, row by row; the diagonal holds its inverse.
  void Factorize() {
    const D d;
    for (Index i = 0; i < m_; ++i) {
      const double* Li = &L_[At(i, 0) * kLanes];
      for (Index j = 0; j <= i; ++j) {
        const double* Lj = &L_[At(j, 0) * kLanes];
        V sum0 = hn::Load(d, Li + j * kLanes);
        V sum1 = hn::Zero(d);
        Index k = 0;
        for (; k + 1 < j; k += 2) {
          sum0 = hn::NegMulAdd(hn::Load(d, Li + k * kLanes), hn::Load(d, Lj + k * kLanes), sum0);
          sum1 = hn::NegMulAdd(hn::Load(d, Li + (k + 1) * kLanes),
                               hn::Load(d, Lj + (k + 1) * kLanes), sum1);
        }
        if (k < j)
          sum0 = hn::NegMulAdd(hn::Load(d, Li + k * kLanes), hn::Load(d, Lj + k * kLanes), sum0);
        const V sum = hn::Add(sum0, sum1);
        Store(j < i ? hn::Mul(sum, Load(L_, At(j, j))) : hn::Div(hn::Set(d, 1.0), hn::Sqrt(sum)),
              L_, At(i, j));
      }
    }
  }

  // [neighbour-moments], with a = L^-1 y and w = L^-1 k; returns the sum of log densities.
  double Predict(Index first) {
    const D d;
    const V variance = hn::Set(d, work_.gp.variance);
    V mean = hn::Zero(d);
    V explained = hn::Zero(d);
    for (Index i = 0; i < m_; ++i) {
      V a = Load(y_, i);
      V w = hn::Mul(variance, Load(k_, i));
      for (Index j = 0; j < i; ++j) {
        const V l = Load(L_, At(i, j));
        a = hn::NegMulAdd(l, Load(a_, j), a);
        w = hn::NegMulAdd(l, Load(w_, j), w);
      }
      const V inverse = Load(L_, At(i, i));
      a = hn::Mul(a, inverse);
      w = hn::Mul(w, inverse);
      Store(a, a_, i);
      Store(w, w_, i);
      mean = hn::MulAdd(a, w, mean);
      explained = hn::MulAdd(w, w, explained);
    }
    // Rounding may take more than all of the variance away; the noise is always left.
    const V noise = hn::Set(d, work_.gp.noise);
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
      g_mean_[lane] = error / v;
      g_var_[lane] = 0.5 * (error * error / v - 1) / v;
      total -= 0.5 * counts_[lane] * (std::log(2 * std::numbers::pi * v) + error * error / v);
    }
    return total;
  }

  // [neighbour-gradient]
  void Backward() {
    const D d;
    const V counts = hn::Load(d, counts_);
    const V g_mean = hn::Mul(counts, hn::Load(d, g_mean_));
    const V g_var = hn::Mul(counts, hn::Load(d, g_var_));
    // a = K^-1 y and w = K^-1 k
    for (Index i = m_ - 1; i >= 0; --i) {
      const V inverse = Load(L_, At(i, i));
      const V a = hn::Mul(Load(a_, i), inverse);
      const V w = hn::Mul(Load(w_, i), inverse);
      Store(a, a_, i);
      Store(w, w_, i);
      for (Index j = 0; j < i; ++j) {
        const V l = Load(L_, At(i, j));
        Store(hn::NegMulAdd(l, a, Load(a_, j)), a_, j);
        Store(hn::NegMulAdd(l, w, Load(w_, j)), w_, j);
      }
    }
    const V variance = hn::Set(d, work_.gp.variance);
    V d_variance = g_var;
    V d_noise = g_var;
    const V two_g_var = hn::Add(g_var, g_var);
    Index pair = 0;
    for (Index i = 0; i < m_; ++i) {
      const V a = Load(a_, i);
      const V w = Load(w_, i);
      const V dk = hn::Sub(hn::Mul(g_mean, a), hn::Mul(two_g_var, w));
      d_variance = hn::MulAdd(dk, Load(k_, i), d_variance);
      AddLengthscales(i, -1, hn::Mul(hn::Mul(dk, variance), Load(k_slope_, i)));
      const V d_diagonal = hn::Mul(w, hn::Sub(hn::Mul(g_var, w), hn::Mul(g_mean, a)));
      d_variance = hn::Add(d_variance, d_diagonal);
      d_noise = hn::MulAdd(d_diagonal, Load(noise_, i), d_noise);
      for (Index j = 0; j < i; ++j, ++pair) {
        // Both K_ij and K_ji.
        const V cross = hn::MulAdd(w, Load(a_, j), hn::Mul(a, Load(w_, j)));
        const V dK = hn::Sub(hn::Mul(hn::Mul(two_g_var, w), Load(w_, j)), hn::Mul(g_mean, cross));
        d_variance = hn::MulAdd(dK, Load(c_, pair), d_variance);
        AddLengthscales(i, j, hn::Mul(hn::Mul(dK, variance), Load(c_slope_, pair)));
      }
    }
    hn::Store(d_variance, d, sums_);
    for (const double lane : sums_) d_variance_ += lane;
    hn::Store(d_noise, d, sums_);
    for (const double lane : sums_) d_noise_ += lane;
  }

  // r2 falls by twice a column's part of it when the logarithm of its lengthscale grows.
  void AddLengthscales(Index i, Index j, V d_r2) {
    const V share = hn::Mul(hn::Set(D(), -2.0), d_r2);
    for (Index q = 0; q < D_; ++q)
      Store(hn::MulAdd(share, ColumnDistance(i, j, q), Load(d_lengthscales_, q)), d_lengthscales_,
            q);
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

  using Buffer = AlignedVector<double>;
  static HWY_INLINE V Load(const Buffer& from, Index place) {
    return hn::Load(D(), &from[place * kLanes]);
  }
  static HWY_INLINE void Store(V value, Buffer& to, Index place) {
    hn::Store(value, D(), &to[place * kLanes]);
  }

#if HWY_TARGET == HWY_SCALAR
  static constexpr Index kLanes = 1;
#else
  static constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(D()));
#endif

  const neighbour::Work& work_;
  Index m_, D_;
  bool uncertain_;
  Vector inverse_;      // of the lengthscales
  Buffer x_, u_, y_;    // neighbours: scaled places and variances, targets
  Buffer noise_;        // 1 over the neighbours' weights
  Buffer k_, k_slope_;  // correlations with the row
  Buffer L_;            // lower triangle, row by row
  Buffer c_, c_slope_;  // correlations among neighbours i > j, row by row
  Buffer a_, w_;
  Buffer d_lengthscales_;
  double d_variance_ = 0, d_noise_ = 0;
  HWY_ALIGN double counts_[kLanes] = {}, mean_[kLanes] = {}, var_[kLanes] = {};
  HWY_ALIGN double g_mean_[kLanes] = {}, g_var_[kLanes] = {}, sums_[kLanes] = {};
};

// c of each r2, in its place. The last numbers go through a vector that is filled up.
template <Correlation kKind>
void CorrelateAll(double* r2, Index count) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  V slope;
  Index i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(Correlate<kKind>(d, hn::LoadU(d, r2 + i), &slope), d, r2 + i);
  if (i == count) return;
  HWY_ALIGN double rest[hn::MaxLanes(d)] = {};
  std::copy(r2 + i, r2 + count, rest);
  hn::Store(Correlate<kKind>(d, hn::Load(d, rest), &slope), d, rest);
  std::copy_n(rest, count - i, r2 + i);
}

void RunCorrelations(Correlation correlation, double* r2, Index count) {
  switch (correlation) {
    case Correlation::kMatern12:
      return CorrelateAll<Correlation::kMatern12>(r2, count);
    case Correlation::kMatern32:
      return CorrelateAll<Correlation::kMatern32>(r2, count);
    case Correlation::kMatern52:
      return CorrelateAll<Correlation::kMatern52>(r2, count);
    case Correlation::kSe:
      return CorrelateAll<Correlation::kSe>(r2, count);
  }
}

double RunLanes(const neighbour::Work& work) {
  Lanes lanes(work);
  switch (work.gp.correlation) {
    case Correlation::kMatern12:
      return lanes.Run<Correlation::kMatern12>();
    case Correlation::kMatern32:
      return lanes.Run<Correlation::kMatern32>();
    case Correlation::kMatern52:
      return lanes.Run<Correlation::kMatern52>();
    case Correlation::kSe:
      return lanes.Run<Correlation::kSe>();
  }
  return 0;
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

namespace {

HWY_EXPORT(RunLanes);
HWY_EXPORT(RunCorrelations);

double Run(const neighbour::Work& work) {
  FATHOM_CHECK(work.queries.neighbours.cols() > 0 &&
               work.queries.neighbours.rows() == static_cast<Index>(work.queries.rows.size()));
  FATHOM_CHECK(work.gp.lengthscales.size() == work.data.x.cols());
  if (work.queries.rows.empty()) return 0;
  return HWY_DYNAMIC_DISPATCH(RunLanes)(work);
}

}  // namespace

void CorrelationsOf(Correlation correlation, Matrix* r2) {
  HWY_DYNAMIC_DISPATCH(RunCorrelations)(correlation, r2->data(), r2->size());
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
