#include "fathom/neighbour/row_leaves.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "fathom/base/linalg.h"
#include "fathom/neighbour/scan.h"

namespace fathom {

namespace {

float SketchCoordinate(double x) {
  return static_cast<float>(std::clamp(x, -kFurthestSketch, kFurthestSketch));
}

// The axis along which these rows vary most, as some of them tell.
Index WidestAxis(const Matrix& along, std::span<const std::int32_t> rows) {
  constexpr std::size_t kTell = 256;
  const std::size_t count = std::min(kTell, rows.size());
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(along.cols());
  Eigen::RowVectorXd squares = sum;
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = along.row(rows[i * rows.size() / count]);
    sum += place;
    squares += place.cwiseAbs2();
  }
  Index widest = 0;
  (squares - sum.cwiseAbs2() / static_cast<double>(count)).maxCoeff(&widest);
  return widest;
}

Index PaddedLeaves(Index leaves) {
  return (leaves + kSketchLanes - 1) / kSketchLanes * kSketchLanes;
}

}  // namespace

RowLeaves::RowLeaves(const Matrix& places, std::vector<std::int32_t> rows)
    : padded_columns_(PaddedSize(places.cols())),
      rows_(std::move(rows)),
      num_leaves_((std::ssize(rows_) + kLeafRows - 1) / kLeafRows),
      values_(static_cast<std::size_t>(std::ssize(rows_) * padded_columns_)) {
  if (rows_.empty()) return;
  FindAxes(places);
  const Matrix along = Project(places);
  Split(along, rows_);
  Fill(places, along);
}

// Some rows tell. A few rounds of subspace iteration come near to their principal axes; any
// orthonormal ones are right.
void RowLeaves::FindAxes(const Matrix& places) {
  constexpr Index kTell = 1024;
  constexpr int kRounds = 4;
  const Index count = std::min(kTell, std::ssize(rows_));
  Matrix some(count, places.cols());
  for (Index i = 0; i < count; ++i)
    some.row(i) = places.row(rows_[static_cast<std::size_t>(i * std::ssize(rows_) / count)]);
  centre_ = some.colwise().mean();
  some.rowwise() -= centre_;
  const Index axes = std::min(places.cols(), kMostAxes);
  std::vector<Index> columns(static_cast<std::size_t>(places.cols()));
  std::iota(columns.begin(), columns.end(), Index{0});
  const Eigen::RowVectorXd squares = some.colwise().squaredNorm();
  std::stable_sort(columns.begin(), columns.end(),
                   [&](Index a, Index b) { return squares[a] > squares[b]; });
  axes_ = Matrix::Zero(places.cols(), axes);
  for (Index k = 0; k < axes; ++k) axes_(columns[static_cast<std::size_t>(k)], k) = 1;
  for (int round = 0; round < kRounds; ++round) {
    const Matrix next = Product(Transposed(some), {Product({some}, {axes_})});
    if (!next.allFinite()) return;
    axes_ = OrthonormalColumns(next);
  }
}

// [places, axes]
Matrix RowLeaves::Project(const Matrix& places) const {
  return Product({places.rowwise() - centre_}, {axes_});
}

// All leaves but the last are full.
void RowLeaves::Split(const Matrix& along, std::span<std::int32_t> rows) {
  const Index leaves = (std::ssize(rows) + kLeafRows - 1) / kLeafRows;
  if (leaves <= 1) return;
  const Index q = WidestAxis(along, rows);
  const auto half = static_cast<std::size_t>((leaves + 1) / 2 * kLeafRows);
  std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(half), rows.end(),
                   [&](std::int32_t a, std::int32_t b) {
                     return along(a, q) != along(b, q) ? along(a, q) < along(b, q) : a < b;
                   });
  Split(along, rows.first(half));
  Split(along, rows.subspan(half));
}

void RowLeaves::Fill(const Matrix& places, const Matrix& along) {
  const Index axes = along.cols();
  const Index box_axes = std::min(axes, kBoxAxes);
  sketches_.assign(static_cast<std::size_t>(num_leaves_ * axes * kLeafRows), 0);
  boxes_.assign(static_cast<std::size_t>(2 * PaddedLeaves(num_leaves_) * box_axes), 0);
  for (Index n = 0; n < std::ssize(rows_); ++n) {
    const std::int32_t row = rows_[static_cast<std::size_t>(n)];
    std::copy_n(&places(row, 0), places.cols(), &values_[n * padded_columns_]);
    reach_ = std::max(reach_, (places.row(row) - centre_).norm());
    const Index leaf = n / kLeafRows;
    float* box = &boxes_[2 * (leaf / kSketchLanes * kSketchLanes) * box_axes];
    for (Index q = 0; q < axes; ++q) {
      const float x = SketchCoordinate(along(row, q));
      sketches_[(leaf * axes + q) * kLeafRows + n % kLeafRows] = x;
      if (q >= box_axes) continue;
      float& least = box[2 * q * kSketchLanes + leaf % kSketchLanes];
      float& most = box[(2 * q + 1) * kSketchLanes + leaf % kSketchLanes];
      least = n % kLeafRows == 0 ? x : std::min(least, x);
      most = n % kLeafRows == 0 ? x : std::max(most, x);
    }
  }
}

// Calls use(query) with the query made ready.
template <typename Use>
void RowLeaves::WithQuery(const double* place, const Use& use) const {
  thread_local ScanMemory memory;
  memory.query.assign(static_cast<std::size_t>(padded_columns_), 0);
  std::copy_n(place, centre_.size(), memory.query.begin());
  memory.gaps.resize(static_cast<std::size_t>(PaddedLeaves(num_leaves_)));
  const Eigen::RowVectorXd off =
      Eigen::Map<const Eigen::RowVectorXd>(place, centre_.size()) - centre_;
  const Eigen::RowVectorXd along = off * axes_;
  float sketch[kMostAxes] = {};
  for (Index q = 0; q < along.size(); ++q) sketch[q] = SketchCoordinate(along[q]);
  use(LeafQuery{.rows = rows_,
                .num_leaves = num_leaves_,
                .padded_columns = padded_columns_,
                .axes = along.size(),
                .values = values_.data(),
                .sketches = sketches_.data(),
                .boxes = boxes_.data(),
                .sketch = sketch,
                .reach = std::max(reach_, off.norm()),
                .memory = &memory});
}

void RowLeaves::Find(const double* place, Index m, const IsLeftOut& left_out,
                     std::int32_t* nearest) const {
  if (rows_.empty() || m <= 0) return;
  WithQuery(place, [&](const LeafQuery& query) { FindNearest(query, m, left_out, nearest); });
}

Index RowLeaves::LeafAt(const double* place) const {
  Index leaf = 0;
  if (num_leaves_ > 1) WithQuery(place, [&](const LeafQuery& query) { leaf = NearestLeaf(query); });
  return leaf;
}

}  // namespace fathom
