// A trained model as a user has it: a schema, which says what the columns of a table are, and
// members, whose predictions are mixed.
#ifndef FATHOM_FITTED_MODEL_H_
#define FATHOM_FITTED_MODEL_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/input_range.h"
#include "fathom/data/schema.h"
#include "fathom/data/standardize.h"
#include "fathom/optimize/progress.h"
#include "fathom/recipe/recipe.h"

namespace fathom FATHOM_PUBLIC {

class Expert;
struct Calibration;

// How the training of a network ended. In the summary of an ensemble, the rows are those of the
// table; steps, seconds and recoveries are summed over all its networks; the rest is of the first
// network that was trained, or of the one that was interrupted.
struct TrainingSummary {
  Index rows = 0;
  // Energy at the end over all rows, or over 10000 random ones if there are more.
  double energy_per_row = 0;
  StopReason reason = StopReason::kFinished;
  std::string message;
  Index steps = 0;  // Update counts on from the steps of the model; all else is of its own training
  int recoveries = 0;
  double seconds = 0;  // with all preparations, without breaks
  double largest_jitter = 0;
};

// Tells how the table of a training is found and recognised again.
struct TrainingData {
  std::string fingerprint;  // of the Dataset
  std::string origin;       // where it came from, in the words of the program that read it
  // The options of that program, defaults included, by name.
  std::map<std::string, std::vector<std::string>> settings;
  InputRange range = {};  // of its inputs; not known of models that an older fathom has made
};

// One part of the mixture. Members may share an expert: then they differ in their noise.
struct Member {
  std::shared_ptr<const Expert> expert;
  // Targets that cannot be scaled, such as classes, have a target_scaler that changes nothing.
  Scaler input_scaler, target_scaler;
  // Its part of the whole; the weights of a model sum to 1. 0 where it is only a trend of others.
  double weight = 1;
  double noise_scale = 1;  // multiplies the variance of the expert's Gaussian noise
  Recipe recipe;           // by which the expert was trained
  TrainingSummary summary;
  // The members before this one on which it builds: the average of their means is its last input,
  // and it predicts what they leave over. Empty: none.
  std::vector<std::size_t> trend = {};
};

struct ModelParts {
  Schema schema;
  std::vector<Member> members;  // the first may stand for all where one must
  Recipe recipe;                // what the fit was asked for
  TrainingSummary summary;      // of the whole model
  TrainingData data;
  // Makes one density of the members' means; null: their densities are mixed. See calibration.h.
  std::shared_ptr<const Calibration> calibration = nullptr;
  // What each target is like in the training rows (data/target_nature.h); empty: classes, or a
  // model of an older program.
  std::vector<std::string> natures = {};
};

// A model is whole and does not change. Copies share their members, so they are cheap.
class Model {
 public:
  // Throws Error with the reason unless the parts fit together.
  explicit Model(ModelParts parts);

  const Schema& schema() const { return parts_->schema; }
  const std::vector<Member>& members() const { return parts_->members; }
  // The first member, for where one must stand for all: in an ensemble, the first of its networks
  // or, if none has a share, the straight line.
  const Member& leader() const { return parts_->members.front(); }
  const Recipe& recipe() const { return parts_->recipe; }
  const TrainingSummary& summary() const { return parts_->summary; }
  const TrainingData& data() const { return parts_->data; }
  const Calibration* calibration() const { return parts_->calibration.get(); }
  const std::vector<std::string>& natures() const { return parts_->natures; }
  const ModelParts& parts() const { return *parts_; }

 private:
  std::shared_ptr<const ModelParts> parts_;
};

// A model file is a safetensors file with the description of the model in its metadata; see
// docs/reference/model_file.md. SaveModel is all or nothing. LoadModel(SaveModel(m)) predicts the
// same bits. LoadModel throws Error with file and reason for anything that is not a whole,
// consistent model of a known format.
void SaveModel(const Model& model, const std::string& path);
Model LoadModel(const std::string& path);

// The bytes of the model file, for those who keep a model elsewhere. `name` stands for the path in
// messages.
std::string ModelToBytes(const Model& model);
Model ModelFromBytes(const std::string& name, std::string_view bytes);

}  // namespace fathom

#endif  // FATHOM_FITTED_MODEL_H_
