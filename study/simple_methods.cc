#include "study/simple_methods.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

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

class Fitted : public Predictor {
 public:
  Fitted(PredictRows predict, Dataset train) : predict_(predict), train_(std::move(train)) {}
  TargetPrediction Predict(const Moments& inputs) const override {
    return predict_(train_, Dataset({.source = train_.source(),
                                     .schema = train_.schema(),
                                     .inputs = inputs,
                                     .targets = Matrix(inputs.rows(), 0)}));
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
