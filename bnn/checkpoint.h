// A fit that is not finished, as a file: all that is needed to go on to the same bits.
#ifndef FATHOM_BNN_CHECKPOINT_H_
#define FATHOM_BNN_CHECKPOINT_H_

#include <string>
#include <string_view>

#include "bnn/journal.h"
#include "bnn/options.h"

namespace fathom::bnn {

struct BaselineCheckpoint {
  BaselineOptions options;  // its threads are those of whoever goes on
  std::string fingerprint;  // of the dataset
  std::string origin = {};  // see TrainingData
  Index rows = 0;           // of the dataset
  double seconds = 0;       // that the fit took so far
  JobStates jobs = {};
};

// Save writes `jobs` in place of the checkpoint's, and is all or nothing. Load throws Error with
// file and reason for anything that is not a whole, consistent checkpoint of a baseline.
void SaveBaselineCheckpoint(const BaselineCheckpoint& checkpoint, const JobStates& jobs,
                            const std::string& path);
BaselineCheckpoint LoadBaselineCheckpoint(const std::string& path);

// The same bytes without a file; `name` stands for the path in messages.
BaselineCheckpoint BaselineCheckpointFromBytes(const std::string& name, std::string_view bytes);

// Whether the file is one, rather than a model or the checkpoint of a deep GP. Throws Error as
// ReadSafeTensors does.
bool IsBaselineCheckpoint(const std::string& path);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_CHECKPOINT_H_
