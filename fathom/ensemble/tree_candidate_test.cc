#include "fathom/ensemble/tree_candidate.h"

#include <gtest/gtest.h>

#include <limits>

#include "fathom/base/random.h"

namespace fathom {
namespace {

// y jumps where both inputs are positive, in noise of standard deviation 0.3.
ScaledTable Jumping(Index rows, double jump) {
  RandomStream stream(8);
  DatasetParts parts;
  parts.schema = NumericSchema({"a", "b"}, {"y"});
  const Matrix x = stream.NormalMatrix(rows, 2);
  parts.inputs = Moments::Certain(x);
  parts.targets = 0.3 * stream.NormalMatrix(rows, 1);
  for (Index n = 0; n < rows; ++n) parts.targets(n, 0) += x(n, 0) > 0 && x(n, 1) > 0 ? jump : 0;
  return ScaleTable(parts, Recipe());
}

double LeftOutError(const ScaledTable& table) {
  const ThreadPool pool(1);
  const TreeCandidate trees(table, {}, pool);
  const double error =
      (table.y - trees.left_out().mean).squaredNorm() / static_cast<double>(table.rows());
  EXPECT_NEAR(trees.left_out().var(0, 0), 0.01 * error, 1e-9);
  return error;
}

TEST(TreeCandidate, FindsAJumpAndNothingInNoise) {
  // Of the variance 9 * 3/16 + 0.09 the noise is a twentieth.
  EXPECT_LT(LeftOutError(Jumping(600, 3)), 0.12);
  EXPECT_GT(LeftOutError(Jumping(600, 0)), 0.95);
}

// A patchwork of 32 x 32 fields, each with a level of its own: six divisions cannot tell them
// apart.
TEST(TreeCandidate, GrowsDeepTreesWhereTheyPay) {
  constexpr Index kFields = 32, kRows = 6000;
  RandomStream stream(9);
  const Matrix levels = stream.NormalMatrix(kFields, kFields);
  DatasetParts parts;
  parts.schema = NumericSchema({"a", "b"}, {"y"});
  parts.inputs = Moments::Certain(Matrix(kRows, 2));
  parts.targets = 0.1 * stream.NormalMatrix(kRows, 1);
  for (Index n = 0; n < kRows; ++n) {
    const auto a = static_cast<Index>(kFields * stream.Uniform());
    const auto b = static_cast<Index>(kFields * stream.Uniform());
    parts.inputs.mean.row(n) << static_cast<double>(a), static_cast<double>(b);
    parts.targets(n, 0) += levels(a, b);
  }
  EXPECT_LT(LeftOutError(ScaleTable(parts, Recipe())), 0.1);
}

TEST(TreeCandidate, WantsRowsWhoseCellsAreKnownOrMissing) {
  EXPECT_FALSE(TreeCandidate::CanLearn(Jumping(50, 1)));
  ScaledTable table = Jumping(51, 1);
  EXPECT_TRUE(TreeCandidate::CanLearn(table));
  table.x.mean(7, 1) = 0;
  table.x.var(7, 1) = 1;
  EXPECT_TRUE(TreeCandidate::CanLearn(table));
  table.x.mean(7, 1) = 0.1;
  EXPECT_FALSE(TreeCandidate::CanLearn(table));
}

// Cells that are gone for a reason: the target of their rows is another.
TEST(TreeCandidate, LearnsWhatMissingCellsMean) {
  RandomStream stream(10);
  DatasetParts parts;
  parts.schema = NumericSchema({"a", "b"}, {"y"});
  parts.inputs = Moments::Certain(stream.NormalMatrix(600, 2));
  parts.targets = 0.3 * stream.NormalMatrix(600, 1);
  for (Index n = 0; n < 600; n += 3) {
    parts.inputs.mean(n, 0) = std::numeric_limits<double>::quiet_NaN();
    parts.targets(n, 0) += 3;
  }
  EXPECT_LT(LeftOutError(ScaleTable(parts, Recipe())), 0.12);
}

TEST(TreeCandidate, DoesNotDependOnTheThreads) {
  const ScaledTable table = Jumping(450, 2);
  const ThreadPool one(1), three(3);
  const TreeCandidate a(table, {}, one), b(table, {}, three);
  EXPECT_EQ(a.left_out().mean, b.left_out().mean);
  const auto predict = [&](const TreeCandidate& trees) {
    return trees.MakeExpert()->Prepare(one, Precision::kDouble)->Predict(table.x, {}).Mean();
  };
  EXPECT_EQ(predict(a), predict(b));
}

}  // namespace
}  // namespace fathom
