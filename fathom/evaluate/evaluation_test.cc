#include "fathom/evaluate/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"

namespace fathom {
namespace {

const Matrix kTargets = (Matrix(4, 1) << 0.1, NAN, -0.3, 2).finished();

Prediction Numbers() {
  RandomStream stream(2);
  Moments moments(stream.NormalMatrix(4, 1), stream.NormalMatrix(4, 1).cwiseAbs());
  return Prediction::Gaussian(moments);
}

const Matrix kLabels = (Matrix(4, 1) << 0, 1, NAN, 1).finished();

ClassPrediction Classes() {
  return {(Matrix(4, 2) << 0.75, 0.25, 0.5, 0.5, 0.1, 0.9, 0.2, 0.8).finished()};
}

void ExpectEqual(const Evaluation& a, const Evaluation& b) {
  ASSERT_EQ(a.index(), b.index());
  EXPECT_EQ(ScoredRows(a), ScoredRows(b));
  const std::vector<NamedScore> first = NamedScores(a);
  const std::vector<NamedScore> second = NamedScores(b);
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(first[i].value, second[i].value) << first[i].kind->key;
}

TEST(Evaluation, ThePredictionDecidesWhichScoresThereAre) {
  const Evaluation numbers = Evaluate(TargetPrediction(Numbers()), kTargets);
  EXPECT_EQ(std::get<Scores>(numbers).rmse, Evaluate(Numbers(), kTargets).rmse);
  EXPECT_EQ(ScoredRows(numbers), 3);
  EXPECT_EQ(ClassScoresOf(numbers), nullptr);
  const Evaluation classes = Evaluate(TargetPrediction(Classes()), kLabels);
  ASSERT_NE(ClassScoresOf(classes), nullptr);
  EXPECT_EQ(ClassScoresOf(classes)->brier, EvaluateClasses(Classes().probability, kLabels).brier);
  EXPECT_EQ(ScoredRows(classes), 3);
}

TEST(Evaluation, PiecesGiveTheSameBitsAsTheWhole) {
  const ThreadPool pool(2);
  for (const bool classes : {false, true}) {
    const TargetPrediction whole = classes ? TargetPrediction(Classes()) : Numbers();
    const Matrix& targets = classes ? kLabels : kTargets;
    EvaluationSums sums;
    for (const std::vector<Index>& rows : {std::vector<Index>{0}, std::vector<Index>{1, 2, 3}})
      sums.Add(Subset(whole, rows), targets(rows, Eigen::all), pool);
    EXPECT_EQ(sums.rows(), 3);
    ExpectEqual(sums.Means(), Evaluate(whole, targets));
  }
}

TEST(Evaluation, PiecesOfSeveralTargetsGiveTheSameBitsAsTheWhole) {
  RandomStream stream(3);
  const ThreadPool pool(2);
  const TargetPrediction whole = Prediction::Gaussian(
      Moments(stream.NormalMatrix(5, 3), stream.NormalMatrix(5, 3).cwiseAbs()));
  Matrix targets = stream.NormalMatrix(5, 3);
  targets(1, 0) = NAN;
  targets.row(2).setConstant(NAN);
  targets.col(2).setConstant(NAN);
  EachEvaluationSums sums(false, 3);
  for (const std::vector<Index>& rows : {std::vector<Index>{0, 1}, std::vector<Index>{2, 3, 4}}) {
    const Matrix here = targets(rows, Eigen::all);
    sums.Add(EachEvaluationSums::Parts(Subset(whole, rows), here, pool), here);
  }
  EXPECT_EQ(sums.rows(), 4);
  const std::vector<std::optional<Evaluation>> means = sums.Means();
  ASSERT_EQ(means.size(), 4U);
  ExpectEqual(means[0].value(), Evaluate(whole, targets));
  ExpectEqual(means[1].value(), Evaluate(whole, OnlyTarget(targets, 0)));
  ExpectEqual(means[2].value(), Evaluate(whole, OnlyTarget(targets, 1)));
  EXPECT_FALSE(means[3].has_value());
}

TEST(Evaluation, FoldsHaveAMeanAndAStandardError) {
  Scores first, second;
  first.rmse = 1;
  second.rmse = 3;
  first.rows = second.rows = 5;
  const FoldScores folds = SummarizeFolds({first, second});
  EXPECT_EQ(std::get<Scores>(folds.mean).rmse, 2);
  EXPECT_EQ(std::get<Scores>(folds.standard_error).rmse, 1);
  EXPECT_EQ(ScoredRows(folds.mean), 10);

  const Evaluation fold = Evaluate(TargetPrediction(Classes()), kLabels);
  const FoldScores twice = SummarizeFolds({fold, fold});
  EXPECT_EQ(ClassScoresOf(twice.mean)->accuracy, ClassScoresOf(fold)->accuracy);
  EXPECT_EQ(ClassScoresOf(twice.standard_error)->accuracy, 0);
  EXPECT_EQ(ClassScoresOf(twice.mean)->confusion, 2 * ClassScoresOf(fold)->confusion);
}

TEST(TargetPrediction, NonFiniteNumbersAreFound) {
  Prediction numbers = Numbers();
  EXPECT_TRUE(IsFinite(numbers));
  EXPECT_EQ(RowsOf(numbers), 4);
  numbers.components[0].var(2, 0) = HUGE_VAL;
  EXPECT_FALSE(IsFinite(numbers));
  ClassPrediction classes = Classes();
  EXPECT_TRUE(IsFinite(classes));
  classes.probability(3, 1) = NAN;
  EXPECT_FALSE(IsFinite(classes));
}

}  // namespace
}  // namespace fathom
