// Predictions from a trained deep GP, in the units it was trained in: one moment-matched forward
// pass, or paths through the posterior (inference/paths.h) as a mixture. Memory does not grow with
// the model's past, a row's prediction has the same bits whatever rows stand beside it, and any
// number of threads may ask at once.
#ifndef FATHOM_INFERENCE_PREDICT_H_
#define FATHOM_INFERENCE_PREDICT_H_

#include <memory>
#include <mutex>

#include "fathom/distribution/prediction.h"
#include "fathom/inference/pass.h"
#include "fathom/inference/predict_options.h"

namespace fathom {

class NetworkPredictor {
 public:
  // Conditions the model once, O(M^3). Keeps a reference to the pool.
  NetworkPredictor(DeepGp model, const ThreadPool& pool, Precision precision = Precision::kDouble);

  const DeepGp& model() const { return model_; }
  Prediction Predict(const Moments& x, const PredictOptions& options) const;
  // Mean and covariance of f (of y unless latent) of every row jointly over its outputs, by full
  // covariances between layers.
  FullMoments PredictJoint(const Moments& x, bool latent) const;
  // The covariances [N, N] over the rows of the function of each target (joint_rows.h).
  std::vector<Matrix> Covariances(const Moments& x, const PredictOptions& options) const;
  // P(y = class) [N, classes], the mean over the samples if there are any. Throws Error where the
  // likelihood has no classes.
  Matrix ClassProbabilities(const Moments& x, PredictOptions options) const;

 private:
  struct Prepared {
    std::once_flag once;
    Network network;
  };
  // Made when the first rows come that need it.
  const Network& NetworkFor(const Moments& x, bool variance) const;
  PathSource PathsFor(const PredictOptions& options) const;

  DeepGp model_;
  const ThreadPool& pool_;
  Precision precision_;
  ConditionedModel gps_;
  // For raw inputs without and with variance: with it the first layer keeps all pairs of
  // pseudo-points in all input dimensions, which a table of 500 certain columns should not pay for.
  // Each for means alone, and for variances too.
  mutable Prepared prepared_[2][2];
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_PREDICT_H_
