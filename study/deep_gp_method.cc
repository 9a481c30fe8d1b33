#include "study/deep_gp_method.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/fit/fit.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/recipe/recipe_json.h"

namespace fathom {

namespace {

constexpr double kStackWork = 10;  // times that of its first network

class FittedDeepGp : public Predictor {
 public:
  explicit FittedDeepGp(Model model) : model_(std::move(model), 1) {}
  TargetPrediction Predict(const Moments& inputs) const override {
    return PredictTargets(model_, inputs);
  }

 private:
  ModelPredictor model_;
};

class DeepGpOfRecipe : public Method {
 public:
  explicit DeepGpOfRecipe(Recipe recipe) : recipe_(std::move(recipe)) { recipe_.threads = 1; }

  std::unique_ptr<Predictor> Fit(const Dataset& train) const override {
    return std::make_unique<FittedDeepGp>(fathom::Fit(train, recipe_));
  }

  nlohmann::json Settings() const override {
    nlohmann::json settings = RecipeToJson(recipe_);
    settings.erase("threads");
    return settings;
  }

  // Steps, times rows per step, times the pairs of pseudo-points of all functions.
  double Work(Index rows, Index inputs) const override {
    const Architecture& architecture = recipe_.architecture;
    double pairs = 0;
    for (std::size_t layer = 0; layer <= architecture.hidden.size(); ++layer) {
      const bool is_last = layer == architecture.hidden.size();
      const Index functions = is_last ? 1 : architecture.hidden[layer];
      const Index M = architecture.inducing[std::min(layer, architecture.inducing.size() - 1)];
      pairs += static_cast<double>(functions * M * (M + (layer == 0 ? inputs : 0)));
    }
    const double steps = recipe_.optimizer.steps > 0
                             ? static_cast<double>(recipe_.optimizer.steps)
                             : recipe_.effort * static_cast<double>(DefaultSteps(rows));
    const auto batch = static_cast<double>(std::min(rows, recipe_.optimizer.batch_size));
    return pairs * steps * batch * (recipe_.stack == Stacking::kNever ? 1 : kStackWork);
  }

 private:
  Recipe recipe_;
};

}  // namespace

std::unique_ptr<Method> DeepGpMethod(const Recipe& recipe) {
  return std::make_unique<DeepGpOfRecipe>(recipe);
}

}  // namespace fathom
