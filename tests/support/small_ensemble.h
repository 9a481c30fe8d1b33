// A table and a recipe by which an ensemble is fitted fast.
#ifndef FATHOM_TESTS_SUPPORT_SMALL_ENSEMBLE_H_
#define FATHOM_TESTS_SUPPORT_SMALL_ENSEMBLE_H_

#include "fathom/base/random.h"
#include "fathom/data/dataset.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

inline DatasetParts Wave(Index rows) {
  RandomStream stream(3);
  DatasetParts dataset;
  dataset.source = "wave";
  dataset.schema = NumericSchema({"a", "b"}, {"y"});
  const Matrix x = stream.NormalMatrix(rows, 2);
  dataset.inputs = Moments::Certain(x);
  dataset.targets = (2 * x.col(0)).array().sin().matrix() + 0.1 * stream.NormalMatrix(rows, 1);
  return dataset;
}

inline Recipe SmallStack() {
  Recipe recipe;
  recipe.stack = Stacking::kAlways;
  recipe.architecture.hidden = {2};
  recipe.architecture.inducing = {6, 5};
  recipe.architecture.paths = 3;
  recipe.optimizer.steps = 6;
  recipe.optimizer.warm_up = 2;
  recipe.threads = 1;
  return recipe;
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_SMALL_ENSEMBLE_H_
