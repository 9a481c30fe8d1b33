// Means and deviations of the columns of a table that comes in blocks, and may lie with several
// ranks.
#ifndef FATHOM_DATA_COLUMN_MOMENTS_H_
#define FATHOM_DATA_COLUMN_MOMENTS_H_

#include <span>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/data/standardize.h"
#include "fathom/distributed/communicator.h"

namespace fathom {

// Goes through the rows twice. Rows are summed in groups of kGroupRows by their numbers in the
// table, and the groups are joined in their order. So the bits depend neither on the blocks in
// which rows come nor on who holds them, as long as no two ranks hold rows of one group.
class ColumnMoments {
 public:
  static constexpr Index kGroupRows = Index{1} << 14;

  explicit ColumnMoments(Index columns);

  // First all rows that are held here go through Add, in their order; then all ranks call
  // JoinMeans; then the same with squares. NaN are ignored. `weights` [rows], or empty: one each.
  // `table_rows` [rows] says where the rows stand in the table; empty: they follow each other.
  void Add(const Matrix& values, const Vector& weights, std::span<const Index> table_rows);
  void JoinMeans(const Communicator& ranks);
  void AddSquares(const Matrix& values, const Vector& weights, std::span<const Index> table_rows);
  void JoinSquares(const Communicator& ranks);

  // At rank 0.
  Scaler ToScaler() const;

 private:
  // long double for its range: the square of 1e200 overflows a double.
  using Wide = Eigen::Array<long double, 1, Eigen::Dynamic>;
  struct Group {
    // Sums of differences from the first number of each column: exact zeros if it is constant.
    Wide first, sum, count;
  };

  // Calls add(first row, end) for each run of rows that belong to one group, after making room for
  // a group that begins.
  template <typename Start, typename AddRun>
  void ForEachRun(Index rows, std::span<const Index> table_rows, const Start& start,
                  const AddRun& add);
  void JoinGroup(const Group& group);

  Index columns_;
  Index next_row_ = 0;  // if rows follow each other
  Index group_ = -1;    // the number of the last one
  std::vector<Group> groups_;
  std::vector<Wide> squares_of_group_;
  Wide count_, mean_, squares_;
};

}  // namespace fathom

#endif  // FATHOM_DATA_COLUMN_MOMENTS_H_
