#include "fathom/trees/tree_rows.h"

#include <gtest/gtest.h>

#include <limits>

#include "fathom/base/random.h"

namespace fathom {
namespace {

BoostedTrees RandomTrees(const Matrix& x, RandomStream* stream) {
  const Vector y = stream->NormalMatrix(x.rows(), 1).col(0) + x.col(1).cwiseAbs2();
  return FitBoostedTrees(Moments::Certain(x), y, {}, {.rounds = 20});
}

void ExpectTheSame(const BoostedTrees& trees, const Moments& x, Index first, Index count) {
  std::vector<double> mean(static_cast<std::size_t>(count));
  TreeRows(trees).Predict(x, first, mean);
  for (Index n = 0; n < count; ++n)
    EXPECT_EQ(mean[n],
              PredictTrees(trees, x.mean.row(first + n).data(), x.var.row(first + n).data()));
}

TEST(TreeRows, SayBitByBitWhatRowsSayAlone) {
  RandomStream stream(1);
  const Matrix x = stream.NormalMatrix(300, 3);
  const BoostedTrees trees = RandomTrees(x, &stream);
  const Moments certain = Moments::Certain(x);
  for (const Index count : {1, 7, 8, 9, 64}) ExpectTheSame(trees, certain, 11, count);
  Moments uncertain = certain;
  uncertain.var(20, 1) = 0.5;
  ExpectTheSame(trees, uncertain, 11, 64);
  Moments beyond = certain;
  beyond.mean(12, 0) = -std::numeric_limits<double>::infinity();
  beyond.mean(13, 1) = std::numeric_limits<double>::quiet_NaN();
  ExpectTheSame(trees, beyond, 11, 8);
}

TEST(TreeRows, SayOfMissingCellsWhatRowsSayAlone) {
  RandomStream stream(2);
  Moments x = Moments::Certain(stream.NormalMatrix(300, 3));
  for (Index n = 0; n < 300; n += 4) {
    x.mean(n, n % 3) = 0;
    x.var(n, n % 3) = 1;
  }
  const Vector y = stream.NormalMatrix(300, 1).col(0) + 2 * x.var.rowwise().sum();
  const BoostedTrees trees = FitBoostedTrees(x, y, {}, {.rounds = 20});
  for (const Index count : {1, 8, 9, 64}) ExpectTheSame(trees, x, 11, count);
}

TEST(TreeRows, TreesMayBeLeaves) {
  const BoostedTrees trees{.base = 1, .nodes = {{.value = 2}, {.value = 3}}, .roots = {0, 1}};
  std::vector<double> mean(3);
  TreeRows(trees).Predict(Moments::Certain(Matrix::Zero(3, 1)), 0, mean);
  EXPECT_EQ(mean, std::vector<double>(3, 6));
}

}  // namespace
}  // namespace fathom
