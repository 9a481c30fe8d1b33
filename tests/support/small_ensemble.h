// A table and a recipe by which an ensemble is fitted fast, and what its tests compare.
#ifndef FATHOM_TESTS_SUPPORT_SMALL_ENSEMBLE_H_
#define FATHOM_TESTS_SUPPORT_SMALL_ENSEMBLE_H_

#include <gtest/gtest.h>

#include <string>

#include "fathom/base/random.h"
#include "fathom/data/dataset.h"
#include "fathom/fitted/expert.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/predictor.h"
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

inline void ExpectSamePredictions(const Model& a, const Model& b) {
  const Moments x = Wave(7).inputs;
  const Prediction one = ModelPredictor(a, 1).Predict(x);
  const Prediction other = ModelPredictor(b, 2).Predict(x);
  ASSERT_EQ(one.size(), other.size());
  EXPECT_EQ(one.weights, other.weights);
  for (std::size_t s = 0; s < one.components.size(); ++s) {
    EXPECT_EQ(one.components[s].mean, other.components[s].mean);
    EXPECT_EQ(one.components[s].var, other.components[s].var);
  }
}

inline Index CountKind(const Model& model, const std::string& kind) {
  Index count = 0;
  for (const Member& member : model.members()) count += member.expert->Kind() == kind ? 1 : 0;
  return count;
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_SMALL_ENSEMBLE_H_
