// Rows to predict and their neighbours for the SIMD loops, and the distances between them. Included
// once per target, after hwy/highway.h.
// NOLINTBEGIN(llvm-header-guard)
#if defined(FATHOM_NEIGHBOUR_LANE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_NEIGHBOUR_LANE_ROWS_INL_H_
#undef FATHOM_NEIGHBOUR_LANE_ROWS_INL_H_
#else
#define FATHOM_NEIGHBOUR_LANE_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "fathom/neighbour/lane_triangle-inl.h"
#include "fathom/neighbour/neighbour_gp.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many rows as a vector has lanes: lane i belongs to row i. Neighbours are stored relative to
// their row, which is therefore at the origin.
template <typename T>
class LaneRows : private Laned<T> {
 public:
  FATHOM_LANED(T);

  LaneRows(const NeighbourData& data, const NeighbourQueries& queries, const Vector& lengthscales)
      : data_(data),
        queries_(queries),
        m_((queries.neighbours.cols() + kBlock - 1) / kBlock * kBlock),
        D_(data.x.cols()),
        inverse_(lengthscales.cwiseInverse()),
        x_(LaneSize(m_ * D_)),
        noise_(LaneSize(m_)) {}

  // Of each row; rounded up to whole blocks by neighbours that are not there.
  Index NumNeighbours() const { return m_; }
  Index NumColumns() const { return D_; }

  // Takes the rows from number `first` on, and stores the targets of their neighbours to y [m].
  // Lanes behind the last row repeat it, and count nothing.
  void Gather(Index first, T* y) {
    const auto count = static_cast<Index>(queries_.rows.size());
    const Moments& x = data_.x;
    uncertain_ = false;
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Index place = std::min(first + lane, count - 1);
      Prefetch(std::min(place + 1, count - 1));
      const Index row = queries_.rows[static_cast<std::size_t>(place)];
      const bool training = &queries_.x == &x;
      const Index view = training ? data_.View(row) : 0;
      counts_[lane] = static_cast<T>(first + lane >= count ? 0 : training ? data_.Weight(row) : 1);
      const double* query = &queries_.x.mean(row, 0);
      NoteVariances(&queries_.x.var(row, 0));
      for (Index i = 0; i < m_; ++i) {
        const std::int32_t n = NeighbourAt(place, i);
        y[i * kLanes + lane] = static_cast<T>(n < 0 ? 0 : data_.y(n, view));
        noise_[i * kLanes + lane] = static_cast<T>(n < 0 ? 1 : 1 / data_.Weight(n));
        if (n >= 0 && !data_.certain) NoteVariances(&x.var(n, 0));
        for (Index q = 0; q < D_; ++q) {
          // Missing neighbours are put so far away, and so far apart, that they correlate with
          // nothing.
          constexpr double kFar = 1e6;
          x_[(i * D_ + q) * kLanes + lane] = static_cast<T>(
              n < 0 ? kFar * static_cast<double>(i + 1) : (x.mean(n, q) - query[q]) * inverse_[q]);
        }
      }
    }
    if (uncertain_) GatherVariances(first);
  }

  bool Uncertain() const { return uncertain_; }  // whether a cell of these rows has a variance
  V Counts() const { return hn::Load(D(), counts_); }
  double Count(Index lane) const { return counts_[lane]; }
  // 1 over the weight of neighbour i.
  V Noise(Index i) const { return LoadAt(noise_, i); }
  // The scaled place of neighbour i in column q.
  V X(Index i, Index q) const { return LoadAt(x_, i * D_ + q); }

  // The variances of neighbours i and j in column q; j < 0 stands for the row itself.
  V Uncertainty(Index i, Index j, Index q) const {
    return hn::Add(LoadAt(u_, i * D_ + q), LoadAt(u_, (j < 0 ? m_ : j) * D_ + q));
  }

  // The squared distances of neighbour i to the neighbours from j on. Variances are added at the
  // end, so that a table without any keeps its bits.
  template <Index kCount>
  HWY_INLINE void Distances(Index i, Index j, V* r2) const {
    const D d;
    for (Index b = 0; b < kCount; ++b) r2[b] = hn::Zero(d);
    for (Index q = 0; q < D_; ++q) {
      const V xi = X(i, q);
      for (Index b = 0; b < kCount; ++b) {
        const V x = hn::Sub(xi, X(j + b, q));
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
      const V x = X(i, q);
      r2 = hn::MulAdd(x, x, r2);
    }
    if (!uncertain_) return r2;
    for (Index q = 0; q < D_; ++q) r2 = hn::Add(r2, Uncertainty(i, -1, q));
    return r2;
  }

 private:
  // The neighbours of a row stand anywhere in memory; while those of one row are copied, those of
  // the next are on their way.
  void Prefetch(Index place) const {
    constexpr Index kLine = 8;  // doubles
    for (Index i = 0; i < m_; ++i) {
      const std::int32_t n = NeighbourAt(place, i);
      if (n < 0) return;
      for (Index q = 0; q < D_; q += kLine) hwy::Prefetch(&data_.x.mean(n, q));
      hwy::Prefetch(&data_.x.mean(n, D_ - 1));
      hwy::Prefetch(&data_.y(n, 0));
    }
  }

  // -1 where there is none.
  std::int32_t NeighbourAt(Index place, Index i) const {
    const Neighbours& all = queries_.neighbours;
    return i < all.cols() ? all(place, i) : -1;
  }

  void NoteVariances(const double* var) {
    double sum = 0;
    for (Index q = 0; q < D_; ++q) sum += var[q];
    uncertain_ = uncertain_ || sum > 0;
  }

  // Gathers the variances of the neighbours and, behind them, those of the row itself.
  void GatherVariances(Index first) {
    u_.resize(static_cast<std::size_t>(LaneSize((m_ + 1) * D_)));
    const auto count = static_cast<Index>(queries_.rows.size());
    for (Index lane = 0; lane < kLanes; ++lane) {
      const Index place = std::min(first + lane, count - 1);
      const Index row = queries_.rows[static_cast<std::size_t>(place)];
      for (Index i = 0; i <= m_; ++i) {
        const std::int32_t n = i < m_ ? NeighbourAt(place, i) : -1;
        const double* var = i == m_  ? &queries_.x.var(row, 0)
                            : n >= 0 ? &data_.x.var(n, 0)
                                     : nullptr;
        for (Index q = 0; q < D_; ++q) {
          u_[(i * D_ + q) * kLanes + lane] =
              static_cast<T>(var == nullptr ? 0 : var[q] * inverse_[q] * inverse_[q]);
        }
      }
    }
  }

  const NeighbourData& data_;
  const NeighbourQueries& queries_;
  Index m_, D_;
  bool uncertain_ = false;  // whether one of the lanes' rows or neighbours is
  Vector inverse_;          // of the lengthscales
  Buffer x_, u_;            // neighbours: scaled places and variances
  Buffer noise_;            // 1 over the neighbours' weights
  HWY_ALIGN T counts_[kLanes] = {};
};

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
// NOLINTEND(llvm-header-guard)
