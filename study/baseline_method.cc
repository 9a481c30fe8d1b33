#include "study/baseline_method.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bnn/fit.h"
#include "fathom/base/error.h"
#include "fathom/fitted/expert.h"
#include "fathom/fitted/predictor.h"

namespace fathom {

namespace {

class FittedBaseline : public Predictor {
 public:
  explicit FittedBaseline(Model model) : model_(std::move(model), 1) {}
  TargetPrediction Predict(const Moments& inputs) const override { return model_.Predict(inputs); }
  nlohmann::json Findings() const override { return model_.model().leader().expert->Findings(); }

 private:
  ModelPredictor model_;
};

class BaselineOfOptions : public Method {
 public:
  explicit BaselineOfOptions(bnn::BaselineOptions options) : options_(std::move(options)) {
    options_.threads = 1;
  }

  std::unique_ptr<Predictor> Fit(const Dataset& train) const override {
    return std::make_unique<FittedBaseline>(bnn::FitBaseline(train, options_));
  }

  nlohmann::json Settings() const override { return bnn::BaselineToJson(options_); }

  // Passes of rows through the network, times its weights.
  double Work(Index rows, Index inputs) const override {
    const bnn::MlpShape shape(std::max<Index>(1, inputs), options_.hidden, options_.activation);
    return static_cast<double>(shape.num_weights()) * Passes(static_cast<double>(rows));
  }

 private:
  double Passes(double rows) const {
    switch (options_.method) {
      case bnn::Baseline::kPbp:
        return 40 * rows;
      case bnn::Baseline::kVi:
      case bnn::Baseline::kViG:
        return 1e4 * 256;
      case bnn::Baseline::kDropout:
        return (rows < 2000 ? 13 : 5) * 4000 * rows;
      case bnn::Baseline::kSgld:
        return 2e5 * 256;
      case bnn::Baseline::kHmc:
        return 4 * (rows > 5000 ? 500 : 1500) * 110 * rows;
    }
    throw InternalError("an unknown baseline");
  }

  bnn::BaselineOptions options_;
};

}  // namespace

std::unique_ptr<Method> BaselineMethod(const bnn::BaselineOptions& options) {
  return std::make_unique<BaselineOfOptions>(options);
}

}  // namespace fathom
