// Several targets of which a row may lack some: what is there is learnt from and scored.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fathom/base/random.h"
#include "fathom/data/dataset.h"
#include "fathom/evaluate/evaluation.h"
#include "fathom/fit/cross_validate.h"
#include "fathom/fit/fit.h"
#include "fathom/fit/linear_baseline.h"
#include "fathom/fitted/predictor.h"
#include "fathom/likelihood/likelihood.h"
#include "fathom/linear/ridge.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// y0 = a + b and y1 = 1000 (a - b), each with noise; every row lacks one of them.
Table AlternatingTable(Index rows) {
  RandomStream stream(4);
  Table table;
  table.source = "t.csv";
  table.columns = {"a", "b", "y0", "y1"};
  table.values = stream.NormalMatrix(rows, 4);
  for (Index n = 0; n < rows; ++n) {
    auto row = table.values.row(n);
    row[2] = n % 2 == 0 ? row[0] + row[1] + 0.05 * row[2] : kNaN;
    row[3] = n % 2 == 1 ? 1000 * (row[0] - row[1]) + 50 * row[3] : kNaN;
  }
  return table;
}

double ErrorOfTarget(const Model& model, Index target) {
  RandomStream stream(5);
  const Matrix x = stream.NormalMatrix(50, 2);
  const Matrix mean = ModelPredictor(model, 1).Predict(Moments::Certain(x)).Mean();
  const Vector truth =
      target == 0 ? Vector(x.col(0) + x.col(1)) : Vector(1000 * (x.col(0) - x.col(1)));
  return std::sqrt((mean.col(target) - truth).squaredNorm() / 50) / (target == 0 ? 1 : 1000);
}

TEST(MissingTargets, KeepRowsThatHaveOneOfThem) {
  Table table = AlternatingTable(6);
  table.values(5, 3) = kNaN;  // now without any
  const Dataset dataset = MakeDataset(table, {"y0", "y1"});
  EXPECT_EQ(dataset.rows(), 5);
  EXPECT_EQ(dataset.dropped_rows(), 1);
  ASSERT_EQ(dataset.notes().size(), 2u);
  EXPECT_EQ(dataset.notes()[0].text, "t.csv: skipped 1 row without a target");
  EXPECT_EQ(dataset.notes()[1].text,
            "t.csv: 5 rows lack some of the targets; what is there is learnt from");
  // Of one target, such rows are left out as ever.
  EXPECT_EQ(MakeDataset(table, Roles{.targets = {"y0"}, .ignore = {"y1"}}).rows(), 3);
}

TEST(MissingTargets, OfAllRowsAreRefused) {
  Table table = AlternatingTable(6);
  table.values.col(3).setConstant(kNaN);
  try {
    MakeDataset(table, {"y0", "y1"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("target column 'y1' has no value in any row"),
              std::string::npos)
        << error.what();
  }
}

TEST(MissingTargets, TeachTheOtherInOneNetwork) {
  const Dataset dataset = MakeDataset(AlternatingTable(80), {"y0", "y1"});
  for (const bool joint : {false, true}) {
    Recipe recipe;
    recipe.stack = Stacking::kNever;
    recipe.architecture.hidden = {2};
    recipe.architecture.inducing = {15, 15};
    recipe.architecture.full_covariance = joint;
    recipe.optimizer.steps = joint ? 150 : 300;
    recipe.threads = 1;
    const Model model = Fit(dataset, recipe);
    EXPECT_LT(ErrorOfTarget(model, 0), 0.3) << joint;
    EXPECT_LT(ErrorOfTarget(model, 1), 0.3) << joint;
  }
}

TEST(MissingTargets, TeachTheOtherInAnEnsemble) {
  const Dataset dataset = MakeDataset(AlternatingTable(120), {"y0", "y1"});
  Recipe recipe;
  recipe.effort = 0.02;
  recipe.threads = 1;
  const Model model = Fit(dataset, recipe);
  ASSERT_NE(model.calibration(), nullptr);
  EXPECT_LT(ErrorOfTarget(model, 0), 0.1);
  EXPECT_LT(ErrorOfTarget(model, 1), 0.1);
  // Saved and loaded it predicts the same.
  RandomStream stream(6);
  const Moments x = Moments::Certain(stream.NormalMatrix(4, 2));
  const Model copy = ModelFromBytes("copy", ModelToBytes(model));
  EXPECT_EQ(ModelPredictor(copy, 1).Predict(x).Mean(), ModelPredictor(model, 1).Predict(x).Mean());
}

// A missing target says nothing: log Z and its slopes are those of the other targets.
TEST(MissingTargets, DoNotCountInLogZ) {
  for (const char* const name : {"gaussian", "student_t", "heteroscedastic", "poisson"}) {
    const auto likelihood = MakeLikelihood(name);
    const auto log_z = [&](const std::vector<double>& y, bool second, Vector* d_m) {
      const auto targets = static_cast<Index>(y.size());
      const Index outputs = likelihood->NumOutputs(targets, 0);
      const Index each = outputs / targets;
      Vector m(outputs), v(outputs);
      const Index parameters = likelihood->NumParameters(outputs) / targets;
      Vector theta(parameters * targets);
      for (Index i = 0; i < outputs; ++i) {
        const bool is_second = targets == 2 ? i % 2 == 1 : second;
        const Index of_target = i / targets;
        m[i] = 0.3 + 0.2 * static_cast<double>(of_target) + (is_second ? 0.5 : 0);
        v[i] = is_second ? 0.4 : 0.7;
      }
      for (Index i = 0; i < theta.size(); ++i) {
        const Index of_target = i / targets;
        theta[i] = 0.6 + 0.1 * static_cast<double>(of_target);
      }
      EXPECT_GE(each, 1);
      *d_m = Vector(outputs);
      Vector d_v(outputs), d_theta = Vector::Zero(theta.size());
      return likelihood->LogZ({theta, 0.5, outputs, y.data(), m.data(), v.data()},
                              {d_m->data(), d_v.data(), d_theta.data()});
    };
    Vector both, first, second;
    const double whole = log_z({2, 1}, false, &both);
    const double with_gap = log_z({2, kNaN}, false, &first);
    const double other_gap = log_z({kNaN, 1}, false, &second);
    EXPECT_NEAR(with_gap + other_gap, whole, 1e-12) << name;
    EXPECT_EQ(first[1], 0) << name;
    EXPECT_EQ(first[0], both[0]) << name;
    EXPECT_EQ(second[1], both[1]) << name;
  }
}

// The joint Gaussian of the known outputs is that of a model without the others.
TEST(MissingTargets, DoNotCountInJointLogZ) {
  const auto likelihood = MakeLikelihood("gaussian");
  const Vector theta = (Vector(3) << 0.3, 0.5, 0.7).finished();
  const Vector m = (Vector(3) << 0.1, -0.2, 0.4).finished();
  const Matrix Cov = (Matrix(3, 3) << 1, 0.3, 0.2, 0.3, 1.5, -0.1, 0.2, -0.1, 0.8).finished();
  const double y[3] = {0.5, kNaN, -1};
  Vector d_m(3), d_theta = Vector::Zero(3);
  Matrix d_Cov(3, 3);
  const double with_gap =
      likelihood->LogZFull({theta, 0.5, y, m, Cov}, {d_m, d_Cov, d_theta.data()});
  const std::vector<Index> known = {0, 2};
  const Vector theta2 = theta(known), m2 = m(known);
  const Matrix Cov2 = Cov(known, known);
  const double y2[2] = {0.5, -1};
  Vector d_m2(2), d_theta2 = Vector::Zero(2);
  Matrix d_Cov2(2, 2);
  EXPECT_EQ(with_gap,
            likelihood->LogZFull({theta2, 0.5, y2, m2, Cov2}, {d_m2, d_Cov2, d_theta2.data()}));
  EXPECT_EQ(d_m[0], d_m2[0]);
  EXPECT_EQ(d_m[1], 0);
  EXPECT_EQ(d_Cov(2, 0), d_Cov2(1, 0));
  EXPECT_EQ(d_theta[2], d_theta2[1]);
}

// The line is that of the rows where the target is known.
TEST(MissingTargets, AreGuessedByTheLine) {
  RandomStream stream(7);
  const Matrix x = stream.NormalMatrix(60, 3);
  Matrix y(60, 2);
  y.col(0) = x * Vector(Vector::LinSpaced(3, 1, 2)) + 0.1 * stream.NormalMatrix(60, 1);
  y.col(1) = x.col(0) + 0.1 * stream.NormalMatrix(60, 1);
  Matrix gaps = y;
  std::vector<Index> known;
  for (Index n = 0; n < 60; ++n) {
    if (n % 3 == 0) {
      gaps(n, 0) = kNaN;
    } else {
      known.push_back(n);
    }
  }
  const RidgeFit with_gaps = FitRidge(Moments::Certain(x), gaps);
  const RidgeFit complete = FitRidge(Moments::Certain(x), y);
  const RidgeFit part =
      FitRidge(Moments::Certain(x(known, Eigen::all)), y(known, Eigen::all).leftCols(1));
  EXPECT_LT((with_gaps.ridge.weights.col(0) - part.ridge.weights.col(0)).norm(), 1e-3);
  EXPECT_NEAR(with_gaps.ridge.noise[0], part.ridge.noise[0], 0.1 * part.ridge.noise[0]);
  EXPECT_LT((with_gaps.ridge.weights.col(1) - complete.ridge.weights.col(1)).norm(), 1e-12);
  EXPECT_TRUE(with_gaps.left_out.mean.allFinite());
}

TEST(MissingTargets, AreNotScored) {
  Moments moments(2, 2);
  moments.mean << 1, 10, 2, 20;
  moments.var << 1, 4, 1, 4;
  const Prediction prediction = Prediction::Gaussian(moments);
  const Matrix y = (Matrix(2, 2) << 2, kNaN, kNaN, 26).finished();
  const std::vector<Evaluation> scores = EvaluateEach(prediction, y);
  ASSERT_EQ(scores.size(), 3u);
  const auto& first = std::get<Scores>(scores[1]);
  const auto& second = std::get<Scores>(scores[2]);
  EXPECT_EQ(first.rows, 1);
  EXPECT_EQ(first.rmse, 1);
  EXPECT_EQ(second.rmse, 6);
  EXPECT_NEAR(first.mean_log_likelihood, LogNormalPdf(2, 1, 1), 1e-14);
  EXPECT_NEAR(second.mean_log_likelihood, LogNormalPdf(26, 20, 4), 1e-14);
  EXPECT_NEAR(std::get<Scores>(scores[0]).mean_log_likelihood,
              0.5 * (first.mean_log_likelihood + second.mean_log_likelihood), 1e-14);
  EXPECT_TRUE(std::isnan(prediction.LogDensity(0, Eigen::RowVector2d(kNaN, kNaN))));
}

TEST(MissingTargets, CrossValidationScoresEachTarget) {
  const Dataset dataset = MakeDataset(AlternatingTable(60), {"y0", "y1"});
  Recipe recipe;
  recipe.local = Local::kOnly;
  recipe.threads = 1;
  RandomStream stream(1);
  const std::vector<Split> splits = KFold(dataset.rows(), 3, &stream);
  const FoldScores scores = CrossValidate(dataset, recipe, splits).scores;
  const FoldScores linear = CrossValidateLinear(dataset, splits);
  ASSERT_EQ(scores.of_target.size(), 2u);
  ASSERT_EQ(linear.of_target.size(), 2u);
  EXPECT_EQ(ScoredRows(scores.of_target[0].mean), 30);
  const auto rmse = [](const FoldScores& own) { return std::get<Scores>(own.mean).rmse; };
  EXPECT_LT(rmse(scores.of_target[0]), 0.3);
  EXPECT_LT(rmse(scores.of_target[1]), 300);
  EXPECT_GT(rmse(scores.of_target[1]), 10);
  EXPECT_LT(rmse(linear.of_target[0]), 0.1);
}

}  // namespace
}  // namespace fathom
