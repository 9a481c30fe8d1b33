#include "fathom/neighbour/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/neighbour/row_leaves.h"

namespace fathom {

namespace {

// Scaled rows. A row's own variance is the squared distance along one more column in which all
// queries are 0.
Matrix ScaledPlaces(const Moments& x, const Vector& lengthscales, bool own_column) {
  const Vector inverse = lengthscales.cwiseInverse();
  Matrix places(x.rows(), x.cols() + (own_column ? 1 : 0));
  places.leftCols(x.cols()) = x.mean * inverse.asDiagonal();
  if (own_column) places.rightCols(1) = (x.var * inverse.cwiseAbs2()).cwiseSqrt();
  return places;
}

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
  std::unique_ptr<RowLeaves> leaves;

  // Whether a row may not help to predict the training row `self`.
  bool LeftOut(std::int32_t row, Index self) const {
    if (self < 0) return false;
    if (row == self) return true;
    return !copies.empty() && copies[row] >= 0 && copies[row] == copies[self];
  }

  // `queries` are scaled; `selves` are the training rows that they are, or empty.
  Neighbours Find(const Matrix& queries, std::span<const Index> selves, Index m,
                  const ThreadPool& pool) const {
    Neighbours found = Neighbours::Constant(queries.rows(), m, -1);
    constexpr Index kChunk = 32;
    const Index chunks = (queries.rows() + kChunk - 1) / kChunk;
    pool.Run(chunks, [&](Index chunk) {
      const Index end = std::min(queries.rows(), (chunk + 1) * kChunk);
      for (Index n = chunk * kChunk; n < end; ++n) {
        const Index self = selves.empty() ? -1 : selves[static_cast<std::size_t>(n)];
        leaves->Find(
            &queries(n, 0), m, [&](std::int32_t row) { return LeftOut(row, self); }, &found(n, 0));
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
  std::vector<std::int32_t> known;
  for (std::int32_t n = 0; n < static_cast<std::int32_t>(x.rows()); ++n) {
    if (unknown.empty() || !unknown[static_cast<std::size_t>(n)]) known.push_back(n);
  }
  state_->leaves = std::make_unique<RowLeaves>(state_->places, std::move(known));
}

NeighbourSearch::~NeighbourSearch() = default;

Index NeighbourSearch::rows() const { return state_->places.rows(); }

Neighbours NeighbourSearch::Find(const Moments& queries, Index m, const ThreadPool& pool) const {
  Matrix places = ScaledPlaces(queries, state_->lengthscales, state_->own_column);
  if (state_->own_column) places.rightCols(1).setZero();
  return state_->Find(places, {}, m, pool);
}

std::vector<Index> NeighbourSearch::InOrder(const Moments& queries, const ThreadPool& pool) const {
  std::vector<Index> order(static_cast<std::size_t>(queries.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  // The rows of few leaves are in the cache anyway.
  constexpr Index kManyLeaves = 64;
  if (state_->leaves->num_leaves() < kManyLeaves) return order;
  Matrix places = ScaledPlaces(queries, state_->lengthscales, state_->own_column);
  if (state_->own_column) places.rightCols(1).setZero();
  std::vector<Index> leaf(order.size());
  pool.Run(queries.rows(), [&](Index n) { leaf[n] = state_->leaves->LeafAt(&places(n, 0)); });
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return leaf[a] < leaf[b]; });
  return order;
}

Neighbours NeighbourSearch::FindOthers(std::span<const Index> rows, Index m,
                                       const ThreadPool& pool) const {
  Matrix places(static_cast<Index>(rows.size()), state_->places.cols());
  for (std::size_t n = 0; n < rows.size(); ++n) places.row(n) = state_->places.row(rows[n]);
  if (state_->own_column) places.rightCols(1).setZero();
  return state_->Find(places, rows, m, pool);
}

}  // namespace fathom
