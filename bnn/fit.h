// From a dataset to a model with a Bayesian neural network, by any of the six methods.
#ifndef FATHOM_BNN_FIT_H_
#define FATHOM_BNN_FIT_H_

#include <functional>
#include <stdexcept>
#include <string>

#include "bnn/checkpoint.h"
#include "bnn/options.h"
#include "fathom/data/dataset.h"
#include "fathom/fitted/model.h"

namespace fathom::bnn {

// The fit was stopped before it had anything to predict with.
class StoppedTooEarly : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What accompanies a fit. Nothing here changes its result.
struct BaselineControl {
  // Gets the part of the work that is done, many times a second and from one thread at a time;
  // returning false ends the fit with what has been reached.
  std::function<bool(double fraction)> callback = nullptr;
  // File from which ResumeBaseline can go on; written every so many seconds and when the callback
  // ends the fit, also by StoppedTooEarly. Whoever keeps the model removes it. Empty: none.
  std::string checkpoint = {};
  double checkpoint_interval = 30;
  // Is told why a checkpoint could not be written, and the fit goes on; if null, that ends it with
  // the Error.
  std::function<void(const std::string&)> on_checkpoint_failure = nullptr;
  std::string origin = {};  // see TrainingData
};

// Throws Error for data or options that cannot be used, NumericalError if the fit fails, and
// StoppedTooEarly. Settings that a method chooses are chosen on held-out parts of these rows.
Model FitBaseline(const Dataset& dataset, const BaselineOptions& options,
                  const BaselineControl& control = {});

// Goes on with a fit that was stopped, and ends with the bits of one that never was. Throws Error
// unless the dataset is the one that the fit began with. The origin is the checkpoint's.
Model ResumeBaseline(const Dataset& dataset, BaselineCheckpoint checkpoint,
                     const BaselineControl& control = {});

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_FIT_H_
