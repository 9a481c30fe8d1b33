#include "fathom/data/column_moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fathom/base/random.h"
#include "tests/support/ranks_in_threads.h"

namespace fathom {
namespace {

constexpr Index kGroup = ColumnMoments::kGroupRows;

struct WeightedRows {
  Matrix values;
  Vector weights;
  std::vector<Index> table_rows;
};

// Large means, gaps, a constant column, a column that is empty in the first groups, and a table
// that has lost some of its rows.
WeightedRows SomeRows(Index rows) {
  RandomStream stream(3);
  WeightedRows some{Matrix(rows, 4), Vector(rows), {}};
  for (Index n = 0; n < rows; ++n) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    some.values.row(n) << 1e6 + stream.Normal(), n % 7 == 0 ? nan : stream.Normal(), 0.1,
        n < 3 * kGroup ? nan : stream.Normal();
    some.weights[n] = 1 + static_cast<double>(n % 3);
    some.table_rows.push_back(n + n / 5);
  }
  return some;
}

// The rows from `first` on, in blocks of so many.
template <typename AddBlock>
void InBlocks(const WeightedRows& all, Index first, Index end, Index size, const AddBlock& add) {
  for (Index n = first; n < end; n += size) {
    const Index count = std::min(size, end - n);
    add(Matrix(all.values.middleRows(n, count)), Vector(all.weights.segment(n, count)),
        std::span(all.table_rows)
            .subspan(static_cast<std::size_t>(n), static_cast<std::size_t>(count)));
  }
}

Scaler Fitted(const WeightedRows& all, Index first, Index end, Index size,
              const Communicator& ranks) {
  ColumnMoments moments(all.values.cols());
  InBlocks(all, first, end, size, [&](const auto&... block) { moments.Add(block...); });
  moments.JoinMeans(ranks);
  InBlocks(all, first, end, size, [&](const auto&... block) { moments.AddSquares(block...); });
  moments.JoinSquares(ranks);
  return moments.ToScaler();
}

// The definition, in two plain passes over a column.
void ExpectPlainMoments(const WeightedRows& all, const Scaler& scaler) {
  for (Index c = 0; c < all.values.cols(); ++c) {
    long double count = 0, sum = 0, squares = 0;
    for (Index n = 0; n < all.values.rows(); ++n) {
      if (std::isnan(all.values(n, c))) continue;
      count += all.weights[n];
      sum += all.weights[n] * static_cast<long double>(all.values(n, c));
    }
    const long double mean = sum / count;
    for (Index n = 0; n < all.values.rows(); ++n) {
      const long double difference = all.values(n, c) - mean;
      if (!std::isnan(difference)) squares += all.weights[n] * difference * difference;
    }
    EXPECT_NEAR(scaler.mean[c], static_cast<double>(mean), 1e-14 * std::abs(scaler.mean[c]));
    if (c == 2) continue;
    EXPECT_NEAR(scaler.scale[c], static_cast<double>(std::sqrt(squares / count)), 1e-14);
  }
}

TEST(ColumnMoments, AreThoseOfTheDefinition) {
  const WeightedRows all = SomeRows(4 * kGroup + 100);
  const Scaler scaler = Fitted(all, 0, all.values.rows(), all.values.rows(), Alone());
  ExpectPlainMoments(all, scaler);
  EXPECT_EQ(scaler.mean[2], 0.1);  // to the bit, so that the column becomes exactly 0
  EXPECT_FALSE(scaler.Varies(2));
}

TEST(ColumnMoments, DoNotDependOnBlocks) {
  const WeightedRows all = SomeRows(2 * kGroup + 100);
  const Index rows = all.values.rows();
  const Scaler whole = Fitted(all, 0, rows, rows, Alone());
  for (const Index size : {Index{1000}, kGroup, kGroup + 1})
    EXPECT_EQ(Fitted(all, 0, rows, size, Alone()), whole) << size;
}

TEST(ColumnMoments, DoNotDependOnWhoHoldsTheGroups) {
  const WeightedRows all = SomeRows(5 * kGroup);
  const Index rows = all.values.rows();
  const Scaler alone = Fitted(all, 0, rows, 1000, Alone());
  for (const int ranks : {2, 3, 9}) {  // of nine, some hold nothing
    RanksInThreads(ranks).Run([&](const Communicator& together) {
      const auto first_of = [&](int r) {
        const Index edge = (all.table_rows.back() / kGroup + 1) * r / ranks * kGroup;
        return std::ranges::lower_bound(all.table_rows, edge) - all.table_rows.begin();
      };
      const Scaler own =
          Fitted(all, first_of(together.rank()), first_of(together.rank() + 1), 999, together);
      EXPECT_TRUE(together.rank() > 0 || own == alone) << ranks;
    });
  }
}

TEST(ColumnMoments, OfNothingAreNothing) {
  const Scaler none = Fitted(SomeRows(0), 0, 0, 1, Alone());
  EXPECT_EQ(none.mean, Vector::Zero(4));
  EXPECT_EQ(none.scale, Vector::Ones(4));
  EXPECT_EQ(none.missing_var, Vector::Zero(4));
}

}  // namespace
}  // namespace fathom
