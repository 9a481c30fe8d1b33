// What accompanies a training: progress, checkpoints, and where the table came from.
#ifndef FATHOM_TRAIN_CONTROL_H_
#define FATHOM_TRAIN_CONTROL_H_

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/optimize/progress.h"

namespace fathom FATHOM_PUBLIC {

class Communicator;

// What is known at the end of each pass over the table.
struct EpochMetrics {
  Index stage = 0;            // number of the network, where an ensemble trains several in turn
  Index epoch = 0;            // passes of this network that are done
  Index step = 0;             // of all networks so far, as are the seconds
  double energy_per_row = 0;  // moving average over the steps
  double learning_rate = 0;   // of the last step
  Vector noise_std;           // as NoiseStd gives it
  double seconds = 0;         // since the start, without breaks
};

// What accompanies a training. Nothing here changes its result.
struct FitControl {
  // Is called after each step; returning false ends the training with what has been reached.
  std::function<bool(const Progress&)> callback = nullptr;
  std::function<void(const EpochMetrics&)> on_epoch = nullptr;
  // File from which Resume can go on; written every so many seconds and when the callback ends the
  // training. Whoever keeps the model removes it. Empty: none.
  std::string checkpoint = {};
  double checkpoint_interval = 30;
  // Is told why a checkpoint could not be written, and the training goes on; if null, that ends it
  // with the Error.
  std::function<void(const std::string&)> on_checkpoint_failure = nullptr;
  double seconds_before = 0;  // that count as part of the training, such as reading the table
  std::string origin = {};    // see TrainingData
  std::map<std::string, std::vector<std::string>> settings = {};  // see TrainingData
  // Processes to share the work with, of which this is the first; the others Help. Null: none.
  const Communicator* ranks = nullptr;
  double memory = HUGE_VAL;  // bytes that each of them may use for its share of the rows
};

}  // namespace fathom

#endif  // FATHOM_TRAIN_CONTROL_H_
