// A small model that was fitted, for tests of model files.
#ifndef FATHOM_TESTS_SUPPORT_SMALL_MODEL_H_
#define FATHOM_TESTS_SUPPORT_SMALL_MODEL_H_

#include <limits>

#include "fathom/base/random.h"
#include "fathom/fit/fit.h"

namespace fathom {

// Two targets of three inputs, one of them with missing cells.
inline DatasetParts SmallDataset() {
  RandomStream stream(5);
  DatasetParts dataset;
  dataset.source = "small";
  dataset.schema = NumericSchema({"a", "b \"quoted\"", "\u00e7"}, {"y", "z"});
  Matrix x = 10 * stream.NormalMatrix(30, 3);
  x(4, 1) = std::numeric_limits<double>::quiet_NaN();
  dataset.inputs = Moments::Certain(x);
  dataset.inputs.var(4, 1) = std::numeric_limits<double>::quiet_NaN();
  dataset.targets = stream.NormalMatrix(30, 2);
  return dataset;
}

inline Recipe SmallRecipe() {
  Recipe recipe;
  recipe.stack = Stacking::kNever;
  recipe.architecture.hidden = {2};
  recipe.architecture.inducing = {6, 5};
  recipe.optimizer.steps = 5;
  recipe.optimizer.warm_up = 2;
  recipe.threads = 1;
  recipe.seed = 18446744073709551615ULL;
  return recipe;
}

inline const Model& SmallModel() {
  static const Model model = Fit(SmallDataset(), SmallRecipe());
  return model;
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_SMALL_MODEL_H_
