// Rows in the order of a k-d tree, with what scan.h needs to search them.
#ifndef FATHOM_NEIGHBOUR_ROW_LEAVES_H_
#define FATHOM_NEIGHBOUR_ROW_LEAVES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/types.h"
#include "fathom/neighbour/scan.h"

namespace fathom {

// A copy of some rows of a matrix. Immutable.
class RowLeaves {
 public:
  // Halves the rows at the median of the axis along which they differ most, again and again.
  RowLeaves(const Matrix& places, std::vector<std::int32_t> rows);

  // FindNearest for a place.
  void Find(const double* place, Index m, const IsLeftOut& left_out, std::int32_t* nearest) const;
  // The leaf nearest to a place. Leaves with near numbers are near each other.
  Index LeafAt(const double* place) const;

  Index num_leaves() const { return num_leaves_; }

 private:
  void FindAxes(const Matrix& places);
  Matrix Project(const Matrix& places) const;
  void Split(const Matrix& along, std::span<std::int32_t> rows);
  void Fill(const Matrix& places, const Matrix& along);
  template <typename Use>
  void WithQuery(const double* place, const Use& use) const;

  Index padded_columns_;
  std::vector<std::int32_t> rows_;  // their places in the matrix, leaf after leaf
  Index num_leaves_;
  AlignedBuffer values_;  // the next ones as in LeafQuery
  AlignedVector<float> sketches_;
  AlignedVector<float> boxes_;
  Eigen::RowVectorXd centre_;  // [columns]
  Matrix axes_;                // [columns, axes], orthonormal
  double reach_ = 0;           // the largest distance of a row to the centre
};

}  // namespace fathom

#endif  // FATHOM_NEIGHBOUR_ROW_LEAVES_H_
