// What a study knows about a method: how to fit it to rows, and how to ask what it then predicts.
#ifndef FATHOM_STUDY_PREDICTOR_H_
#define FATHOM_STUDY_PREDICTOR_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "fathom/data/dataset.h"
#include "fathom/distribution/target_prediction.h"

namespace fathom {

// A method that has seen its training rows.
class Predictor {
 public:
  virtual ~Predictor() = default;
  // Predicts y: a density in the units of the file or, if the training rows have classes, their
  // probabilities in the order of schema.classes. The columns are those of the training rows.
  virtual TargetPrediction Predict(const Moments& inputs) const = 0;
  // What the method says about its fit, such as whether its chains agree; recorded beside the
  // scores. Null: nothing.
  virtual nlohmann::json Findings() const;
  // Whether it learns only when it is asked to predict, so that this counts as its fit.
  virtual bool LearnsWhenAsked() const { return false; }
};

// A method with all its settings. Only what Fit returns can predict.
class Method {
 public:
  virtual ~Method() = default;

  // Runs on one thread. Throws what Fit of fathom/fit/fit.h throws.
  virtual std::unique_ptr<Predictor> Fit(const Dataset& train) const = 0;
  // Everything that can change the result, as it is recorded beside the scores.
  virtual nlohmann::json Settings() const = 0;
  // Expected time on a table of this size, in a unit that all methods share; a guess, by which long
  // runs are started first.
  virtual double Work(Index rows, Index inputs) const = 0;
};

}  // namespace fathom

#endif  // FATHOM_STUDY_PREDICTOR_H_
