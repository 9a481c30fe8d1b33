// What one member of a model has learnt, in the scaled units of its training. A deep GP is one kind
// of expert. A new kind derives from Expert and says how its predictor is made, how it is written
// and how it is read: linear_expert.h is the shortest example. expert.cc lists the readers; a kind
// that lives outside the engine calls RegisterExpert. That is enough to save, load, describe and
// predict. Relevance and C code know each kind by itself; only a deep GP can be trained further.
// CONTRIBUTING.md lists the files that a new kind touches.
#ifndef FATHOM_FITTED_EXPERT_H_
#define FATHOM_FITTED_EXPERT_H_

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fathom/base/precision.h"
#include "fathom/base/threads.h"
#include "fathom/distribution/prediction.h"
#include "fathom/fitted/arrays.h"
#include "fathom/inference/predict_options.h"
#include "fathom/likelihood/likelihood.h"

namespace fathom {

// An expert made ready for rows. Any number of threads may ask at once.
class ExpertPredictor {
 public:
  virtual ~ExpertPredictor() = default;
  // Predicts y (f with options.latent) from scaled inputs x, in scaled units.
  virtual Prediction Predict(const Moments& x, const PredictOptions& options) const = 0;
  // P(y = class) [N, classes]. Throws Error where the likelihood has no classes, as here.
  virtual Matrix ClassProbabilities(const Moments& x, const PredictOptions& options) const;
  // [targets] of [N, N]: how the functions at the rows of x hang together. The correlations count:
  // the variances are those of Predict with options.latent. Throws Error where that is not known,
  // as here.
  virtual std::vector<Matrix> Covariances(const Moments& x, const PredictOptions& options) const;
};

class Expert {
 public:
  virtual ~Expert() = default;

  virtual std::string Kind() const = 0;  // its name in model files
  // Columns of x: Scaler::outputs() of the member's input_scaler, after whitening.
  virtual Index num_inputs() const = 0;
  virtual Index num_outputs() const = 0;
  // Says how many targets and classes there are, and whether the targets are scaled.
  virtual const Likelihood& likelihood() const = 0;
  // [outputs]: the variance of the Gaussian noise that an observation adds, in scaled units; empty
  // where the noise is of another kind. A member may have this noise multiplied.
  virtual Vector NoiseVariance() const = 0;

  // Does all the work that is the same for all rows. Keeps a reference to the pool.
  virtual std::unique_ptr<ExpertPredictor> Prepare(const ThreadPool& pool,
                                                   Precision precision) const = 0;

  // Throws Error with the reason unless it can predict.
  virtual void Check() const = 0;
  // Writes all that its reader needs: arrays into `arrays`, everything else into *description,
  // which has its kind already.
  virtual void Write(nlohmann::json* description, const ArrayWriter& arrays) const = 0;

  // For people, in one line: what it is made of.
  virtual std::string Describe() const { return Kind(); }
  // The word before that line, where the expert is all that a model holds.
  virtual std::string Heading() const { return "predictor"; }
  // What its training has to say beside the summary: objects "settings" and "diagnostics", and a
  // list "warnings". Null where that is nothing.
  virtual nlohmann::json Findings() const;
};

using ExpertReader = std::function<std::shared_ptr<const Expert>(const nlohmann::json& description,
                                                                 const ArrayReader& arrays)>;
// Lets model files hold experts of that kind. Throws Error if the kind is known already.
void RegisterExpert(const std::string& kind, ExpertReader reader);
// Builds the expert that the description names by its "kind". Throws Error with the reason if the
// kind is unknown, or anything is missing or does not fit.
std::shared_ptr<const Expert> ReadExpert(const nlohmann::json& description,
                                         const ArrayReader& arrays);

}  // namespace fathom

#endif  // FATHOM_FITTED_EXPERT_H_
