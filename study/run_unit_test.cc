#include "study/run_unit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fathom/base/error.h"
#include "study/deep_gp_method.h"

namespace fathom {
namespace {

// Predicts the mean and the variance of the train targets, whatever the inputs.
class MeanMethod : public Method {
 public:
  explicit MeanMethod(double scale = 1) : scale_(scale) {}
  std::unique_ptr<Predictor> Fit(const Dataset& train) const override {
    class Constant : public Predictor {
     public:
      Constant(double mean, double var, bool classes) : mean_(mean), var_(var), classes_(classes) {}
      TargetPrediction Predict(const Moments& inputs) const override {
        if (classes_) {
          // There are two classes: the mean of their numbers is the probability of the second.
          Matrix probability(inputs.rows(), 2);
          probability.col(0).setConstant(1 - mean_);
          probability.col(1).setConstant(mean_);
          return ClassPrediction{probability};
        }
        Moments moments(inputs.rows(), 1);
        moments.mean.setConstant(mean_);
        moments.var.setConstant(var_);
        return Prediction::Gaussian(moments);
      }

     private:
      double mean_, var_;
      bool classes_;
    };
    const double mean = train.targets().mean();
    const double var = (train.targets().array() - mean).square().mean();
    return std::make_unique<Constant>(mean, scale_ * var, train.schema().has_classes());
  }
  nlohmann::json Settings() const override { return {{"scale", scale_}}; }
  double Work(Index rows, Index) const override { return static_cast<double>(rows); }

 private:
  double scale_;
};

SplitData Twins() {
  SplitData data;
  data.table.source = "twins";
  data.table.columns = {"a", "y"};
  data.table.values = (Matrix(6, 2) << 0, 1, 1, 3, 2, 5, 3, 7, 2, 5, 9, 2).finished();
  data.roles.targets = {"y"};
  data.splits = {{.train = {0, 1, 2, 3}, .held_out = {4, 5}}};
  return data;
}

TEST(RunUnit, ScoresAllTestRowsAndThoseThatWereNotSeen) {
  const SplitData data = Twins();
  const UnitOutcome result = RunUnit(data, data.splits[0], MeanMethod());
  EXPECT_EQ(result.train_rows, 4);
  EXPECT_EQ(result.test_rows, 2);
  EXPECT_EQ(result.inputs, 1);
  EXPECT_GE(result.fit_seconds, 0.0);
  // Mean 4, variance 5; the test targets are 5, which was seen, and 2.
  EXPECT_DOUBLE_EQ(result.scores->Get("rmse"), std::sqrt((1.0 + 4.0) / 2));
  EXPECT_EQ(result.unseen->rows, 1);
  EXPECT_DOUBLE_EQ(result.unseen->Get("rmse"), 2);
  EXPECT_NEAR(result.unseen->Get("log_likelihood"), -0.5 * std::log(2 * M_PI * 5) - 4.0 / 10,
              1e-12);
  SplitData apart = data;
  apart.table.values(4, 1) = 4;
  EXPECT_FALSE(RunUnit(apart, apart.splits[0], MeanMethod()).unseen);
}

TEST(RunUnit, AScoreThatIsNotFiniteIsAFailure) {
  const SplitData data = Twins();
  try {
    RunUnit(data, data.splits[0], MeanMethod(0));  // certain, and wrong
    FAIL() << "must throw";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("log_likelihood is -inf"), std::string::npos)
        << error.what();
  }
}

SplitData Classes() {
  SplitData data = Twins();
  data.table.values.col(1) << 0, 1, 1, 1, 1, 0;
  data.table.levels = {{}, {"no", "yes"}};
  data.roles.task = Task::kClassify;
  return data;
}

TEST(RunUnit, ClassesAreScoredByTheirProbabilities) {
  SplitData data = Classes();
  const UnitOutcome result = RunUnit(data, data.splits[0], MeanMethod());
  // P(yes) = 3/4; row 4 is yes and was seen, row 5 is no.
  EXPECT_NEAR(result.scores->Get("log_likelihood"), 0.5 * (std::log(0.75) + std::log(0.25)), 1e-15);
  EXPECT_EQ(result.scores->Get("accuracy"), 0.5);
  EXPECT_NEAR(result.unseen->Get("log_likelihood"), std::log(0.25), 1e-15);
  EXPECT_EQ(result.unseen->Get("accuracy"), 0);
  EXPECT_FALSE(result.scores->Has(*FindScore("rmse")));
  Recipe recipe;
  recipe.architecture.hidden = {};
  recipe.optimizer.steps = 50;
  data.splits = {{.train = {0, 1, 2, 3, 4}, .held_out = {5}}};
  EXPECT_LT(RunUnit(data, data.splits[0], *DeepGpMethod(recipe)).scores->Get("log_likelihood"), 0);
}

TEST(RunUnit, DeepGpLearnsAndRecordsItsRecipe) {
  SplitData data = Twins();
  data.table.values.resize(60, 2);
  for (Index n = 0; n < 60; ++n) {
    const double a = 0.1 * static_cast<double>(n);
    data.table.values.row(n) << a, std::sin(a);
  }
  data.splits = {{}};
  for (Index n = 0; n < 60; ++n)
    (n % 5 == 2 ? data.splits[0].held_out : data.splits[0].train).push_back(n);
  Recipe recipe;
  recipe.architecture.hidden = {};
  recipe.architecture.inducing = {10};
  recipe.optimizer.steps = 200;
  recipe.seed = 7;
  const auto method = DeepGpMethod(recipe);
  const UnitOutcome result = RunUnit(data, data.splits[0], *method);
  EXPECT_LT(result.scores->Get("rmse"), 0.1);
  EXPECT_EQ(RunUnit(data, data.splits[0], *method).scores, result.scores);
  EXPECT_EQ(method->Settings()["seed"], 7);
  EXPECT_FALSE(method->Settings().contains("threads"));
  EXPECT_GT(method->Work(1000, 1), method->Work(100, 1));
}

}  // namespace
}  // namespace fathom
