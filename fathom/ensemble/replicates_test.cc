#include "fathom/ensemble/replicates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fathom/base/random.h"
#include "fathom/neighbour/search.h"

namespace fathom {
namespace {

// Groups of two rows whose errors share a part of variance rho.
struct Pairs {
  Vector z;
  std::vector<Index> group;
};
Pairs MakePairs(Index groups, double rho, double s) {
  RandomStream stream(5);
  Pairs pairs{Vector(2 * groups), {}};
  for (Index g = 0; g < groups; ++g) {
    const double shared = std::sqrt(rho) * stream.Normal();
    for (Index i = 0; i < 2; ++i) {
      pairs.z[2 * g + i] = shared + std::sqrt(s) * stream.Normal();
      pairs.group.push_back(g);
    }
  }
  return pairs;
}

double ShareBetween(const Pairs& pairs) {
  const ReplicateEffect effect = FitReplicateEffect(pairs.z, pairs.group);
  return effect.between / (effect.between + effect.within);
}

TEST(Replicates, FindsTheShareOfBothVariances) {
  EXPECT_NEAR(ShareBetween(MakePairs(20000, 0.7, 0.3)), 0.7, 0.02);
}

// One group in fifty has rows that are far apart; the others are copies.
TEST(Replicates, FewWildGroupsDoNotSpeakForAll) {
  Pairs pairs = MakePairs(2000, 1, 0);
  for (Index n = 0; n < pairs.z.size(); n += 100) pairs.z[n] += 30;
  EXPECT_GT(ShareBetween(pairs), 0.9);
}

TEST(Replicates, UnrelatedErrorsShareNothingAndFewCopiesPromiseLittle) {
  const Pairs unrelated = MakePairs(20000, 0, 1);
  EXPECT_LT(FitReplicateEffect(unrelated.z, unrelated.group).between, 0.03);
  const Pairs few = MakePairs(5, 1, 0);  // exact copies
  const ReplicateEffect effect = FitReplicateEffect(few.z, few.group);
  EXPECT_NEAR(effect.within / (effect.within + effect.between), 0.5, 1e-12);
}

// Rows of one input; every third one is there twice.
ScaledTable TableWithCopies(Index rows) {
  RandomStream stream(8);
  ScaledTable table;
  table.x = Moments(rows, 1);
  table.y = Matrix(rows, 1);
  for (Index n = 0; n < rows; ++n) {
    const bool copy = n % 3 == 2;
    table.x.mean(n, 0) = copy ? table.x.mean(n - 1, 0) : stream.Normal();
    table.y(n, 0) = copy ? table.y(n - 1, 0) : stream.Normal();
  }
  table.x.var.setZero();
  table.copies = FindCopies(table.x, table.y);
  return table;
}

TEST(Replicates, ARowThatIsThereTwiceIsKnown) {
  const ScaledTable table = TableWithCopies(300);
  const Matrix mean = Matrix::Zero(300, 1);
  const Matrix sd = Matrix::Ones(300, 1);
  const auto seen = LearnFromReplicates(table, mean, sd);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->x.rows(), 200);
  const SeenRowsIndex index(*seen);
  for (Index n = 0; n < 300; ++n) {
    const Index row = index.Find(table.x, n);
    ASSERT_GE(row, 0);
    EXPECT_NEAR(seen->mean(row, 0), table.y(n, 0), 0.15 * std::abs(table.y(n, 0)) + 1e-12);
    EXPECT_LT(seen->var(row, 0), 0.15);
    EXPECT_GT(seen->var(row, 0), 0.02);  // never as if it were certain
  }
  Moments unseen(1, 1);
  unseen.mean(0, 0) = 0.123;
  unseen.var.setZero();
  EXPECT_EQ(index.Find(unseen, 0), -1);
}

// One of two copies is thought to be known well, so that its error is a hundred times what was
// expected.
TEST(Replicates, ARowIsNotMovedBeyondItsCopies) {
  const ScaledTable table = TableWithCopies(300);
  Matrix sd = Matrix::Ones(300, 1);
  sd(1, 0) = 0.01 * std::abs(table.y(1, 0));
  const auto seen = LearnFromReplicates(table, Matrix::Zero(300, 1), sd);
  ASSERT_NE(seen, nullptr);
  const Index row = SeenRowsIndex(*seen).Find(table.x, 1);
  EXPECT_LT(std::abs(seen->mean(row, 0)), std::abs(table.y(1, 0)));
}

TEST(Replicates, TablesWithoutCopiesLearnNothing) {
  ScaledTable table = TableWithCopies(300);
  // The same inputs with targets of their own: an experiment that was repeated.
  for (Index n = 0; n < 300; ++n) table.y(n, 0) += 1e-3 * static_cast<double>(n);
  table.copies = FindCopies(table.x, table.y);
  EXPECT_EQ(LearnFromReplicates(table, Matrix::Zero(300, 1), Matrix::Ones(300, 1)), nullptr);
}

TEST(SeenRows, CellsThatAreNotKnownExactlyAreNeverTheSame) {
  const SeenRows rows{Matrix::Zero(1, 2), Matrix::Zero(1, 1), Matrix::Ones(1, 1)};
  const SeenRowsIndex index(rows);
  Moments x(1, 2);
  x.SetZero(1, 2);
  EXPECT_EQ(index.Find(x, 0), 0);
  x.mean(0, 0) = -0.0;
  EXPECT_EQ(index.Find(x, 0), 0);
  x.var(0, 1) = 1;
  EXPECT_EQ(index.Find(x, 0), -1);
}

}  // namespace
}  // namespace fathom
