#include "fathom/neighbour/neighbour_gp.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/neighbour/neighbour_gp.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "fathom/neighbour/correlation-inl.h"

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

// Predicts as many rows at once as a vector has lanes: lane i belongs to row i. The m neighbours
// are stored relative to their row, which is therefore at the origin. Loops work on several
// neighbours at a time, so that each load serves more than one of them.
class Lanes {
 public:
  Lanes(const neighbour::Work& work)
      : work_(work),
        m_((work.queries.neighbours.cols() + kBlock - 1) / kBlock * kBlock),
        D_(work.data.x.cols()),
        inverse_(work.gp.lengthscales.cwiseInverse()),
        x_(Size(m_ * D_)),
        noise_(Size(m_)),
        k_(Size(m_)),
        k_slope_(Size(m_)),
        L_(Size(At(m_ + 2, 0))),
        c_(work.gradient != nullptr ? Size(At(m_, 0)) : 0),
        c_slope_(c_.size()),
        a_(Size(m_)),
        w_(Size(m_)),
        d_lengthscales_(Size(D_)) {
    std::fill_n(d_lengthscales_.data(), d_lengthscales_.size(), 0.0);
  }

  // With the gradient, or the moments alone.
  template <Correlation kKind, bool kGradient>
  double Run() {
    double total = 0;
    const auto count = static_cast<Index>(work_.queries.rows.size());
    for (Index first = 0; first < count; first += kLanes) {
      Gather(first);
      Factorize<kKind, kGradient>();
      total += Predict(first);
      if constexpr (kGradient) Backward();
    }
    if constexpr (kGradient) AddGradient();
    return total;
  }

 private:
  static Index Size(Index vectors) { return vectors * kLanes; }
  // The place of row i, column j in a lower triangle that is stored row by row.
  static Index At(Index i, Index j) { return i * (i + 1) / 2 + j; }

  // Lanes behind the last row repeat it, and count nothing.
  void Gather(Index first) {
    const auto count = static_cast<Index>(work_.queries.rows.size());
    const Moments& x = work_.data.x;
    uncertain_ = false;
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Index place = std::min(first + lane, count - 1);
      Prefetch(std::min(place + 1, count - 1));
      const Index row = work_.queries.rows[static_cast<std::size_t>(place)];
      const bool training = &work_.queries.x == &x;
      const Index view = training ? work_.data.View(row) : 0;
      counts_[lane] = first + lane >= count ? 0 : training ? work_.data.Weight(row) : 1;
      const double* query = &work_.queries.x.mean(row, 0);
      NoteVariances(&work_.queries.x.var(row, 0));
      for (Index i = 0; i < m_; ++i) {
        const std::int32_t n = NeighbourAt(place, i);
        L_[At(m_, i) * kLanes + lane] = n < 0 ? 0 : work_.data.y(n, view);
        noise_[i * kLanes + lane] = n < 0 ? 1 : 1 / work_.data.Weight(n);
        if (n >= 0 && !work_.data.certain) NoteVariances(&x.var(n, 0));
        for (Index q = 0; q < D_; ++q) {
          // Missing neighbours are put so far away, and so far apart, that they correlate with
          // nothing.
          constexpr double kFar = 1e6;
          x_[(i * D_ + q) * kLanes + lane] =
              n < 0 ? kFar * static_cast<double>(i + 1) : (x.mean(n, q) - query[q]) * inverse_[q];
        }
      }
    }
    if (uncertain_) GatherVariances(first);
  }

  // The neighbours of a row stand anywhere in memory; while those of one row are copied, those of
  // the next are on their way.
  void Prefetch(Index place) const {
    constexpr Index kLine = 8;  // doubles
    for (Index i = 0; i < m_; ++i) {
      const std::int32_t n = NeighbourAt(place, i);
      if (n < 0) return;
      for (Index q = 0; q < D_; q += kLine) hwy::Prefetch(&work_.data.x.mean(n, q));
      hwy::Prefetch(&work_.data.x.mean(n, D_ - 1));
      hwy::Prefetch(&work_.data.y(n, 0));
    }
  }

  // -1 where there is none.
  std::int32_t NeighbourAt(Index place, Index i) const {
    const Neighbours& all = work_.queries.neighbours;
    return i < all.cols() ? all(place, i) : -1;
  }

  void NoteVariances(const double* var) {
    double sum = 0;
    for (Index q = 0; q < D_; ++q) sum += var[q];
    uncertain_ = uncertain_ || sum > 0;
  }

  // Gathers the variances of the neighbours and, behind them, those of the row itself.
  void GatherVariances(Index first) {
    u_.resize(static_cast<std::size_t>(Size((m_ + 1) * D_)));
    const auto count = static_cast<Index>(work_.queries.rows.size());
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Index place = std::min(first + lane, count - 1);
      const Index row = work_.queries.rows[static_cast<std::size_t>(place)];
      for (Index i = 0; i <= m_; ++i) {
        const std::int32_t n = i < m_ ? NeighbourAt(place, i) : -1;
        const double* var = i == m_  ? &work_.queries.x.var(row, 0)
                            : n >= 0 ? &work_.data.x.var(n, 0)
                                     : nullptr;
        for (Index q = 0; q < D_; ++q) {
          u_[(i * D_ + q) * kLanes + lane] =
              var == nullptr ? 0 : var[q] * inverse_[q] * inverse_[q];
        }
      }
    }
  }

  // The variances of neighbours i and j in column q; j < 0 stands for the row itself.
  V Uncertainty(Index i, Index j, Index q) const {
    return hn::Add(Load(u_, i * D_ + q), Load(u_, (j < 0 ? m_ : j) * D_ + q));
  }

  // The squared distances of neighbour i to the neighbours from j on. Variances are added at the
  // end, so that a table without any keeps its bits.
  template <Index kCount>
  HWY_INLINE void Distances(Index i, Index j, V* r2) const {
    const D d;
    for (Index b = 0; b < kCount; ++b) r2[b] = hn::Zero(d);
    for (Index q = 0; q < D_; ++q) {
      const V xi = Load(x_, i * D_ + q);
      for (Index b = 0; b < kCount; ++b) {
        const V x = hn::Sub(xi, Load(x_, (j + b) * D_ + q));
        r2[b] = hn::MulAdd(x, x, r2[b]);
      }
    }
    if (!uncertain_) return;
    for (Index q = 0; q < D_; ++q) {
      for (Index b = 0; b < kCount; ++b) r2[b] = hn::Add(r2[b], Uncertainty(i, j + b, q));
    }
  }

  V DistanceToRow(Index i) const {
    V r2 = hn::Zero(D());
    for (Index q = 0; q < D_; ++q) {
      const V x = Load(x_, i * D_ + q);
      r2 = hn::MulAdd(x, x, r2);
    }
    if (!uncertain_) return r2;
    for (Index q = 0; q < D_; ++q) r2 = hn::Add(r2, Uncertainty(i, -1, q));
    return r2;
  }

  // Row i of K in its place of L, and of the row v k below y. The correlations are kept for the
  // gradient.
  template <Correlation kKind, bool kGradient>
  HWY_INLINE void Covariances(Index i) {
    const D d;
    const V variance = hn::Set(d, work_.gp.variance);
    V slope;
    const V own = Correlate<kKind>(d, DistanceToRow(i), &slope);
    if constexpr (kGradient) {
      Store(own, k_, i);
      Store(slope, k_slope_, i);
    }
    Store(hn::Mul(variance, own), L_, At(m_ + 1, i));
    Index j = 0;
    for (; j + kBlock <= i; j += kBlock) CovariancesFrom<kKind, kGradient, kBlock>(i, j, variance);
    for (; j < i; ++j) CovariancesFrom<kKind, kGradient, 1>(i, j, variance);
    const V noise = hn::Set(d, work_.gp.noise);
    Store(hn::MulAdd(noise, Load(noise_, i), variance), L_, At(i, i));
  }

  template <Correlation kKind, bool kGradient, Index kCount>
  HWY_INLINE void CovariancesFrom(Index i, Index j, V variance) {
    V r2[kCount];
    Distances<kCount>(i, j, r2);
    for (Index b = 0; b < kCount; ++b) {
      V slope;
      const V c = Correlate<kKind>(D(), r2[b], &slope);
      if constexpr (kGradient) {
        Store(c, c_, At(i - 1, j + b));
        Store(slope, c_slope_, At(i - 1, j + b));
      }
      Store(hn::Mul(variance, c), L_, At(i, j + b));
    }
  }

  // Cholesky of K in place; the diagonal holds its inverse. The rows y and v k below become
  // a = L^-1 y and w = L^-1 k by the same elimination. Rows are made when their turn comes, so that
  // they are still in the nearest cache.
  template <Correlation kKind, bool kGradient>
  void Factorize() {
    for (Index i = 0; i < m_; i += kTall) {
      const Index end = std::min(m_, i + kTall);
      for (Index r = i; r < end; ++r) Covariances<kKind, kGradient>(r);
      for (Index j = 0; j < i; j += 2) {
        if (end - i == kTall) {
          Eliminate<kTall>(i, j);
        } else {
          Eliminate<kBlock>(i, j);
        }
      }
      for (Index r = i; r < end; r += kBlock) {
        for (Index j = i; j < r; j += 2) Eliminate<kBlock>(r, j);
        FactorizeDiagonal(r);
      }
    }
    for (Index j = 0; j < m_; j += 2) Eliminate<2>(m_, j);
  }

  // Columns j and j + 1 of kRows rows below the diagonal.
  template <Index kRows>
  HWY_INLINE void Eliminate(Index i, Index j) {
    const D d;
    const double* left = &L_[At(j, 0) * kLanes];
    const double* right = &L_[At(j + 1, 0) * kLanes];
    double* rows[kRows];
    V first[kRows], second[kRows];
    for (Index r = 0; r < kRows; ++r) {
      rows[r] = &L_[At(i + r, 0) * kLanes];
      first[r] = hn::Load(d, rows[r] + j * kLanes);
      second[r] = hn::Load(d, rows[r] + (j + 1) * kLanes);
    }
    for (Index k = 0; k < j; ++k) {
      const V lk = hn::Load(d, left + k * kLanes);
      const V rk = hn::Load(d, right + k * kLanes);
      for (Index r = 0; r < kRows; ++r) {
        const V x = hn::Load(d, rows[r] + k * kLanes);
        first[r] = hn::NegMulAdd(x, lk, first[r]);
        second[r] = hn::NegMulAdd(x, rk, second[r]);
      }
    }
    const V left_inverse = hn::Load(d, left + j * kLanes);
    const V between = hn::Load(d, right + j * kLanes);
    const V right_inverse = hn::Load(d, right + (j + 1) * kLanes);
    for (Index r = 0; r < kRows; ++r) {
      first[r] = hn::Mul(first[r], left_inverse);
      second[r] = hn::Mul(hn::NegMulAdd(first[r], between, second[r]), right_inverse);
      hn::Store(first[r], d, rows[r] + j * kLanes);
      hn::Store(second[r], d, rows[r] + (j + 1) * kLanes);
    }
  }

  // The block on the diagonal whose first row is i.
  HWY_INLINE void FactorizeDiagonal(Index i) {
    const D d;
    V s[kBlock][kBlock];
    for (Index r = 0; r < kBlock; ++r) {
      for (Index c = 0; c <= r; ++c) s[r][c] = Load(L_, At(i + r, i + c));
    }
    for (Index k = 0; k < i; ++k) {
      V x[kBlock];
      for (Index r = 0; r < kBlock; ++r) x[r] = Load(L_, At(i + r, k));
      for (Index r = 0; r < kBlock; ++r) {
        for (Index c = 0; c <= r; ++c) s[r][c] = hn::NegMulAdd(x[r], x[c], s[r][c]);
      }
    }
    for (Index r = 0; r < kBlock; ++r) {
      for (Index c = 0; c <= r; ++c) {
        for (Index k = 0; k < c; ++k) s[r][c] = hn::NegMulAdd(s[r][k], s[c][k], s[r][c]);
        s[r][c] = c < r ? hn::Mul(s[r][c], s[c][c]) : hn::Div(hn::Set(d, 1.0), hn::Sqrt(s[r][c]));
        Store(s[r][c], L_, At(i + r, i + c));
      }
    }
  }

  // [neighbour-moments]; returns the sum of log densities.
  double Predict(Index first) {
    const D d;
    const V variance = hn::Set(d, work_.gp.variance);
    V mean = hn::Zero(d);
    V explained = hn::Zero(d);
    for (Index i = 0; i < m_; ++i) {
      const V w = Load(L_, At(m_ + 1, i));
      mean = hn::MulAdd(Load(L_, At(m_, i)), w, mean);
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

  // a = K^-1 y and w = K^-1 k, from the last rows of L.
  void SolveBackward() {
    for (Index i = 0; i < m_; ++i) {
      Store(Load(L_, At(m_, i)), a_, i);
      Store(Load(L_, At(m_ + 1, i)), w_, i);
    }
    for (Index i = m_ - kBlock; i >= 0; i -= kBlock) {
      V a[kBlock], w[kBlock];
      for (Index r = kBlock - 1; r >= 0; --r) {
        a[r] = Load(a_, i + r);
        w[r] = Load(w_, i + r);
        for (Index k = r + 1; k < kBlock; ++k) {
          const V l = Load(L_, At(i + k, i + r));
          a[r] = hn::NegMulAdd(l, a[k], a[r]);
          w[r] = hn::NegMulAdd(l, w[k], w[r]);
        }
        a[r] = hn::Mul(a[r], Load(L_, At(i + r, i + r)));
        w[r] = hn::Mul(w[r], Load(L_, At(i + r, i + r)));
        Store(a[r], a_, i + r);
        Store(w[r], w_, i + r);
      }
      for (Index j = 0; j < i; ++j) {
        V aj = Load(a_, j);
        V wj = Load(w_, j);
        for (Index r = 0; r < kBlock; ++r) {
          const V l = Load(L_, At(i + r, j));
          aj = hn::NegMulAdd(l, a[r], aj);
          wj = hn::NegMulAdd(l, w[r], wj);
        }
        Store(aj, a_, j);
        Store(wj, w_, j);
      }
    }
  }

  // [neighbour-gradient]. The slopes become the gradient with respect to the logarithm of the
  // lengthscales per squared distance of one column: r2 falls by twice a column's part of it when
  // that logarithm grows.
  void Backward() {
    SolveBackward();
    const D d;
    const V counts = hn::Load(d, counts_);
    const V g_mean = hn::Mul(counts, hn::Load(d, g_mean_));
    const V g_var = hn::Mul(counts, hn::Load(d, g_var_));
    const V falls = hn::Set(d, -2 * work_.gp.variance);
    V d_variance = g_var;
    V d_noise = g_var;
    const V two_g_var = hn::Add(g_var, g_var);
    for (Index i = 0; i < m_; ++i) {
      const V a = Load(a_, i);
      const V w = Load(w_, i);
      const V dk = hn::Sub(hn::Mul(g_mean, a), hn::Mul(two_g_var, w));
      d_variance = hn::MulAdd(dk, Load(k_, i), d_variance);
      Store(hn::Mul(hn::Mul(dk, falls), Load(k_slope_, i)), k_slope_, i);
      const V d_diagonal = hn::Mul(w, hn::Sub(hn::Mul(g_var, w), hn::Mul(g_mean, a)));
      d_variance = hn::Add(d_variance, d_diagonal);
      d_noise = hn::MulAdd(d_diagonal, Load(noise_, i), d_noise);
      // Both K_ij and K_ji.
      const V by_w = hn::Sub(hn::Mul(two_g_var, w), hn::Mul(g_mean, a));
      const V by_a = hn::Mul(g_mean, w);
      for (Index j = 0; j < i; ++j) {
        const Index pair = At(i - 1, j);
        const V dK = hn::NegMulAdd(by_a, Load(a_, j), hn::Mul(by_w, Load(w_, j)));
        d_variance = hn::MulAdd(dK, Load(c_, pair), d_variance);
        Store(hn::Mul(hn::Mul(dK, falls), Load(c_slope_, pair)), c_slope_, pair);
      }
    }
    Index q = 0;
    for (; q + kBlock <= D_; q += kBlock) AddLengthscales<kBlock>(q);
    for (; q < D_; ++q) AddLengthscales<1>(q);
    hn::Store(d_variance, d, sums_);
    for (const double lane : sums_) d_variance_ += lane;
    hn::Store(d_noise, d, sums_);
    for (const double lane : sums_) d_noise_ += lane;
  }

  // Adds the gradient of the lengthscales of kCount columns, from q on.
  template <Index kCount>
  HWY_INLINE void AddLengthscales(Index q) {
    V sum[kCount];
    for (Index c = 0; c < kCount; ++c) sum[c] = Load(d_lengthscales_, q + c);
    for (Index i = 0; i < m_; ++i) {
      V xi[kCount];
      const V own = Load(k_slope_, i);
      for (Index c = 0; c < kCount; ++c) {
        xi[c] = Load(x_, i * D_ + q + c);
        sum[c] = hn::MulAdd(hn::Mul(own, xi[c]), xi[c], sum[c]);
        if (uncertain_) sum[c] = hn::MulAdd(own, Uncertainty(i, -1, q + c), sum[c]);
      }
      for (Index j = 0; j < i; ++j) {
        const V slope = Load(c_slope_, At(i - 1, j));
        for (Index c = 0; c < kCount; ++c) {
          const V x = hn::Sub(xi[c], Load(x_, j * D_ + q + c));
          sum[c] = hn::MulAdd(hn::Mul(slope, x), x, sum[c]);
        }
        if (!uncertain_) continue;
        for (Index c = 0; c < kCount; ++c)
          sum[c] = hn::MulAdd(slope, Uncertainty(i, j, q + c), sum[c]);
      }
    }
    for (Index c = 0; c < kCount; ++c) Store(sum[c], d_lengthscales_, q + c);
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
  static constexpr Index kBlock = 4;
  // Rows that are eliminated together: the more, the less often those above are read, which are in
  // the second cache. Their sums fill 16 of 32 registers; elsewhere there are only 16.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
  static constexpr Index kTall = kBlock;
#else
  static constexpr Index kTall = 2 * kBlock;
#endif

  const neighbour::Work& work_;
  Index m_, D_;             // m is rounded up to whole blocks by neighbours that are not there
  bool uncertain_ = false;  // whether one of the lanes' rows or neighbours is
  Vector inverse_;          // of the lengthscales
  Buffer x_, u_;            // neighbours: scaled places and variances
  Buffer noise_;            // 1 over the neighbours' weights
  Buffer k_, k_slope_;      // correlations with the row
  Buffer L_;                // lower triangle, row by row; below it y and k
  Buffer c_, c_slope_;      // correlations among neighbours i > j, at (i - 1, j) of a triangle
  Buffer a_, w_;
  Buffer d_lengthscales_;
  double d_variance_ = 0, d_noise_ = 0;
  HWY_ALIGN double counts_[kLanes] = {}, mean_[kLanes] = {}, var_[kLanes] = {};
  HWY_ALIGN double g_mean_[kLanes] = {}, g_var_[kLanes] = {}, sums_[kLanes] = {};
};

template <bool kGradient>
double RunLanesOf(const neighbour::Work& work) {
  Lanes lanes(work);
  switch (work.gp.correlation) {
    case Correlation::kMatern12:
      return lanes.Run<Correlation::kMatern12, kGradient>();
    case Correlation::kMatern32:
      return lanes.Run<Correlation::kMatern32, kGradient>();
    case Correlation::kMatern52:
      return lanes.Run<Correlation::kMatern52, kGradient>();
    case Correlation::kSe:
      return lanes.Run<Correlation::kSe, kGradient>();
  }
  return 0;
}

double RunLanes(const neighbour::Work& work) {
  return work.gradient != nullptr ? RunLanesOf<true>(work) : RunLanesOf<false>(work);
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
