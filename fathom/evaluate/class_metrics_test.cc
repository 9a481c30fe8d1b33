#include "fathom/evaluate/class_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/test_folder.h"

namespace fathom {
namespace {

const Matrix kProbability = (Matrix(4, 3) << 0.7, 0.2, 0.1,  //
                             0.3, 0.6, 0.1,                  //
                             0.1, 0.65, 0.25,                //
                             0.3, 0.3, 0.4)
                                .finished();

TEST(ClassMetrics, ValuesByHand) {
  const ClassScores scores = EvaluateClasses(kProbability, Vector{{0, 1, 2, 2}});
  EXPECT_EQ(scores.rows, 4);
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.75);
  EXPECT_NEAR(scores.mean_log_likelihood,
              (std::log(0.7) + std::log(0.6) + std::log(0.25) + std::log(0.4)) / 4, 1e-15);
  const double brier =
      (0.09 + 0.04 + 0.01) + (0.09 + 0.16 + 0.01) + (0.01 + 0.4225 + 0.5625) + (0.09 + 0.09 + 0.36);
  EXPECT_NEAR(scores.brier, brier / 4, 1e-15);
  // Bins: 0.7 alone (right), 0.6 and 0.65 together (one of two right), 0.4 alone (right).
  EXPECT_NEAR(scores.calibration_error, (0.3 + std::abs(1 - 1.25) + 0.6) / 4, 1e-15);
  EXPECT_EQ(scores.confusion(0, 0), 1);
  EXPECT_EQ(scores.confusion(1, 1), 1);
  EXPECT_EQ(scores.confusion(2, 1), 1);
  EXPECT_EQ(scores.confusion(2, 2), 1);
  EXPECT_EQ(scores.confusion.sum(), 4);
}

TEST(ClassMetrics, ReliabilityOfTheBinsThatHaveRows) {
  ClassScoreSums sums;
  sums.Add(kProbability, Vector{{0, 1, 2, 2}});
  const std::vector<ReliabilityBin> bins = sums.Reliability();
  ASSERT_EQ(bins.size(), 3U);
  EXPECT_DOUBLE_EQ(bins[0].probability, 0.4);
  EXPECT_DOUBLE_EQ(bins[1].probability, 0.625);
  EXPECT_EQ(bins[1].right, 0.5);
  EXPECT_EQ(bins[1].rows, 2);
  EXPECT_EQ(bins[2].right, 1);
}

TEST(ClassMetrics, PiecesChangeNoBit) {
  const Vector labels{{0, 1, 2, 2}};
  const ClassScores whole = EvaluateClasses(kProbability, labels);
  ClassScoreSums sums;
  for (const auto& [begin, count] : {std::pair<Index, Index>{0, 1}, {1, 0}, {1, 3}})
    sums.Add(kProbability.middleRows(begin, count), labels.segment(begin, count));
  const ClassScores scores = sums.Means();
  EXPECT_EQ(scores.mean_log_likelihood, whole.mean_log_likelihood);
  EXPECT_EQ(scores.brier, whole.brier);
  EXPECT_EQ(scores.calibration_error, whole.calibration_error);
  EXPECT_EQ(scores.confusion, whole.confusion);
}

TEST(ClassMetrics, CertainAndRightIsPerfectCertainAndWrongIsInfinitelyBad) {
  const Matrix certain = (Matrix(2, 2) << 1, 0, 0, 1).finished();
  const ClassScores right = EvaluateClasses(certain, Vector{{0, 1}});
  EXPECT_EQ(right.accuracy, 1);
  EXPECT_EQ(right.brier, 0);
  EXPECT_EQ(right.calibration_error, 0);
  EXPECT_EQ(right.mean_log_likelihood, 0);
  const ClassScores wrong = EvaluateClasses(certain, Vector{{1, 0}});
  EXPECT_EQ(wrong.brier, 2);
  EXPECT_EQ(wrong.calibration_error, 1);
  EXPECT_EQ(wrong.mean_log_likelihood, -INFINITY);
}

TEST(ClassMetrics, RowsWithoutAClassAreLeftOut) {
  const ClassScores scores = EvaluateClasses(kProbability, Vector{{NAN, 1, NAN, 2}});
  EXPECT_EQ(scores.rows, 2);
  EXPECT_EQ(scores.accuracy, 1);
}

TEST(ClassMetrics, BadLabelsAndShapesAreRefused) {
  const auto error = [](const Vector& labels) {
    return ErrorOf([&] { EvaluateClasses(kProbability, labels); });
  };
  EXPECT_NE(error(Vector{{0, 1, 3, 2}}).find("label 3 of row 2"), std::string::npos);
  EXPECT_NE(error(Vector{{0, 1, 0.5, 2}}).find("label 0.5"), std::string::npos);
  EXPECT_NE(error(Vector{{0, -1, 0, 2}}).find("label -1"), std::string::npos);
  EXPECT_NE(error(Vector{{0, 1}}).find("2 x 1"), std::string::npos);
  EXPECT_NE(error(Vector::Constant(4, NAN)).find("no row"), std::string::npos);
}

}  // namespace
}  // namespace fathom
