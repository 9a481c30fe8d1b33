#include "study/simple_methods.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/ensemble/target_choice.h"
#include "fathom/fit/linear_baseline.h"

namespace fathom {

namespace {

// Both need no more than the training rows.
using PredictRows = Prediction (*)(const Dataset& train, const Dataset& rows);

Prediction PredictConstant(const Dataset& train, const Dataset& rows) {
  const Matrix& y = train.targets();
  const auto N = static_cast<double>(y.rows());
  Moments moments(rows.rows(), y.cols());
  for (Index t = 0; t < y.cols(); ++t) {
    const double mean = y.col(t).mean();
    const double squares = (y.col(t).array() - mean).square().sum();
    moments.mean.col(t).setConstant(mean);
    moments.var.col(t).setConstant(std::max(squares / std::max(N - 1, 1.0), 1e-12) * (1 + 1 / N));
  }
  return Prediction::Gaussian(std::move(moments));
}

// The steps of the target, if it is given in steps.
TargetShape StepsOf(const Dataset& train) {
  if (train.targets().cols() != 1) return {};
  const Vector y = train.targets().col(0);
  const TargetNature nature = NatureOf(y);
  if (!nature.has_two_values()) return ShapesFor(nature, y)[0];
  return {.step = nature.most - nature.least, .least = nature.least, .most = nature.most};
}

class Fitted : public Predictor {
 public:
  Fitted(PredictRows predict, Dataset train) : predict_(predict), train_(std::move(train)) {}
  TargetPrediction Predict(const Moments& inputs) const override {
    const Dataset rows({.source = train_.source(),
                        .schema = train_.schema(),
                        .inputs = inputs,
                        .targets = Matrix(inputs.rows(), 0)});
    return Shaped(StepsOf(train_), predict_(train_, rows), {});
  }
  bool LearnsWhenAsked() const override { return true; }

 private:
  PredictRows predict_;
  Dataset train_;
};

class Simple : public Method {
 public:
  Simple(const char* name, PredictRows predict) : name_(name), predict_(predict) {}
  std::unique_ptr<Predictor> Fit(const Dataset& train) const override {
    return std::make_unique<Fitted>(predict_, train);
  }
  nlohmann::json Settings() const override { return {{"method", name_}}; }
  double Work(Index rows, Index inputs) const override {
    return static_cast<double>(rows * inputs * inputs);
  }

 private:
  const char* name_;
  PredictRows predict_;
};

}  // namespace

std::unique_ptr<Method> LineMethod() { return std::make_unique<Simple>("line", PredictLinear); }

std::unique_ptr<Method> ConstantMethod() {
  return std::make_unique<Simple>("constant", PredictConstant);
}

}  // namespace fathom
