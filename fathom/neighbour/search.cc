#include "fathom/neighbour/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nanoflann.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/neighbour/scan.h"

namespace fathom {

namespace {

// Below so many rows, or above so many columns, looking at all of them is faster than the tree
// (docs/measurements/performance.md).
constexpr Index kTreeRows = 20'000;
constexpr Index kTreeColumns = 15;

// Scaled rows. A row's own variance is the squared distance along one more column in which all
// queries are 0.
Matrix ScaledPlaces(const Moments& x, const Vector& lengthscales, bool own_column) {
  const Vector inverse = lengthscales.cwiseInverse();
  Matrix places(x.rows(), x.cols() + (own_column ? 1 : 0));
  places.leftCols(x.cols()) = x.mean * inverse.asDiagonal();
  if (own_column) places.rightCols(1) = (x.var * inverse.cwiseAbs2()).cwiseSqrt();
  return places;
}

// The rows of a matrix as nanoflann wants to see them.
struct Places {
  const Matrix& rows;
  std::size_t kdtree_get_point_count() const { return static_cast<std::size_t>(rows.rows()); }
  double kdtree_get_pt(std::size_t row, std::size_t column) const {
    return rows(static_cast<Index>(row), static_cast<Index>(column));
  }
  template <class Box>
  bool kdtree_get_bbox(Box& /*box*/) const {
    return false;
  }
};
using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Places>,
                                                 Places, -1, std::int32_t>;

// Keeps the m nearest of those that are offered and not left out.
class Nearest {
 public:
  using DistanceType = double;
  Nearest(Index m, std::span<const std::int32_t> copies, Index self)
      : found_(m), copies_(copies), self_(self) {}

  // For nanoflann.
  bool addPoint(double distance, std::int32_t row) {
    if (!LeftOut(row)) found_.Offer(distance, row);
    return true;
  }
  bool full() const { return std::isfinite(found_.worst()); }
  double worstDist() const { return found_.worst(); }
  std::size_t size() const { return 0; }

  bool LeftOut(std::int32_t row) const {
    if (self_ < 0) return false;
    if (row == self_) return true;
    return !copies_.empty() && copies_[row] >= 0 && copies_[row] == copies_[self_];
  }
  NearestList* list() { return &found_; }

 private:
  NearestList found_;
  std::span<const std::int32_t> copies_;
  Index self_;
};

}  // namespace

std::vector<std::int32_t> FindCopies(const Moments& x, const Matrix& y) {
  const Index N = x.rows();
  std::vector<Index> order(static_cast<std::size_t>(N));
  for (Index n = 0; n < N; ++n) order[n] = n;
  const auto compare = [&](Index a, Index b) {
    const auto cells = [&](const Matrix& values) {
      for (Index d = 0; d < values.cols(); ++d) {
        // A missing cell is no number; its place is taken by its variance.
        if (values(a, d) < values(b, d)) return -1;
        if (values(a, d) > values(b, d)) return 1;
      }
      return 0;
    };
    const int means = cells(x.mean);
    if (means != 0) return means;
    const int variances = cells(x.var);
    return variances != 0 ? variances : cells(y);
  };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    const int sign = compare(a, b);
    return sign != 0 ? sign < 0 : a < b;
  });
  std::vector<std::int32_t> copies(static_cast<std::size_t>(N), -1);
  for (std::size_t n = 1; n < order.size(); ++n) {
    if (compare(order[n - 1], order[n]) != 0) continue;
    auto& first = copies[order[n - 1]];
    if (first < 0) first = static_cast<std::int32_t>(order[n - 1]);
    copies[order[n]] = first;
  }
  return copies;
}

struct NeighbourSearch::State {
  Matrix places;  // [N, columns], scaled
  Vector lengthscales;
  bool own_column = false;
  std::vector<std::int32_t> copies;
  Places view{places};
  std::unique_ptr<Tree> tree;  // or
  std::unique_ptr<BlockedRows> blocked;

  // `queries` are scaled; `selves` are the training rows that they are, or empty.
  Neighbours Find(const Matrix& queries, std::span<const Index> selves, Index m,
                  const ThreadPool& pool) const {
    Neighbours found = Neighbours::Constant(queries.rows(), m, -1);
    constexpr Index kChunk = 32;
    const Index chunks = (queries.rows() + kChunk - 1) / kChunk;
    pool.Run(chunks, [&](Index chunk) {
      const Index end = std::min(queries.rows(), (chunk + 1) * kChunk);
      for (Index n = chunk * kChunk; n < end; ++n) {
        Nearest nearest(m, copies, selves.empty() ? -1 : selves[static_cast<std::size_t>(n)]);
        if (tree != nullptr) {
          tree->findNeighbors(nearest, &queries(n, 0), nanoflann::SearchParams());
        } else {
          blocked->Scan(&queries(n, 0), nearest.list(),
                        [&](std::int32_t row) { return nearest.LeftOut(row); });
        }
        nearest.list()->Write(&found(n, 0));
      }
    });
    return found;
  }
};

NeighbourSearch::NeighbourSearch(const Moments& x, const Vector& lengthscales,
                                 std::vector<std::int32_t> copies, const std::vector<bool>& unknown)
    : state_(std::make_unique<State>()) {
  FATHOM_CHECK(x.rows() < std::numeric_limits<std::int32_t>::max());
  state_->own_column = (x.var.array() > 0).any();
  state_->lengthscales = lengthscales;
  state_->places = ScaledPlaces(x, lengthscales, state_->own_column);
  state_->copies = std::move(copies);
  if (std::find(unknown.begin(), unknown.end(), true) != unknown.end()) {
    // Nowhere: a distance that is no number is never the smaller one.
    Matrix known = state_->places;
    for (Index n = 0; n < known.rows(); ++n) {
      if (unknown[static_cast<std::size_t>(n)])
        known.row(n).setConstant(std::numeric_limits<double>::quiet_NaN());
    }
    state_->blocked = std::make_unique<BlockedRows>(known);
  } else if (UsesTree(x)) {
    state_->tree = std::make_unique<Tree>(static_cast<int>(state_->places.cols()), state_->view,
                                          nanoflann::KDTreeSingleIndexAdaptorParams(16));
    state_->tree->buildIndex();
  } else {
    state_->blocked = std::make_unique<BlockedRows>(state_->places);
  }
}

NeighbourSearch::~NeighbourSearch() = default;

bool NeighbourSearch::UsesTree(const Moments& x) {
  return x.rows() >= kTreeRows && x.cols() <= kTreeColumns;
}

Index NeighbourSearch::rows() const { return state_->places.rows(); }

Neighbours NeighbourSearch::Find(const Moments& queries, Index m, const ThreadPool& pool) const {
  Matrix places = ScaledPlaces(queries, state_->lengthscales, state_->own_column);
  if (state_->own_column) places.rightCols(1).setZero();
  return state_->Find(places, {}, m, pool);
}

Neighbours NeighbourSearch::FindOthers(std::span<const Index> rows, Index m,
                                       const ThreadPool& pool) const {
  Matrix places(static_cast<Index>(rows.size()), state_->places.cols());
  for (std::size_t n = 0; n < rows.size(); ++n) places.row(n) = state_->places.row(rows[n]);
  if (state_->own_column) places.rightCols(1).setZero();
  return state_->Find(places, rows, m, pool);
}

}  // namespace fathom
