#include "fathom/inference/latent.h"

#include <gtest/gtest.h>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/inference/predict.h"
#include "fathom/model/initialize.h"

namespace fathom {
namespace {

DeepGp Example(bool skip_links) {
  Architecture architecture;
  architecture.hidden = {2, 3};
  architecture.inducing = {7};
  architecture.skip_links = skip_links;
  return Initialize(architecture, {}, 1, RandomStream(1).NormalMatrix(40, 2), 1);
}

TEST(LatentFunctions, LastLayerIsTheLatentPrediction) {
  const ThreadPool pool(2);
  const Moments x = Moments::Certain(RandomStream(2).NormalMatrix(37, 2));
  for (const bool skip_links : {false, true}) {
    const DeepGp model = Example(skip_links);
    const std::vector<Moments> layers = LatentFunctions(model, pool).AllLayers(x);
    ASSERT_EQ(layers.size(), 3U);
    EXPECT_EQ(layers[0].cols(), 2);
    EXPECT_EQ(layers[1].cols(), 3);
    const Prediction prediction = NetworkPredictor(model, pool).Predict(x, {.latent = true});
    EXPECT_EQ(layers[2].mean, prediction.components[0].mean);
    EXPECT_EQ(layers[2].var, prediction.components[0].var);
  }
}

TEST(LatentFunctions, WrongLayerOrWidthIsRefused) {
  const ThreadPool pool(1);
  const LatentFunctions functions(Example(false), pool);
  const Moments x = Moments::Certain(Matrix::Zero(3, 2));
  EXPECT_THROW(functions.Layer(3, x, x), Error);
  EXPECT_THROW(functions.Layer(2, x, x), Error);
}

}  // namespace
}  // namespace fathom
