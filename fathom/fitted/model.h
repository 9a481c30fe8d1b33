// A trained model as a user has it: the deep GP with everything needed to predict in the units of
// the file.
#ifndef FATHOM_FITTED_MODEL_H_
#define FATHOM_FITTED_MODEL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fathom/data/dataset.h"
#include "fathom/data/standardize.h"
#include "fathom/inference/predict.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

struct TrainingSummary {
  Index rows = 0;
  // At the end, of the whole table; of a table with more than 10000 rows, estimated from so many.
  double energy_per_row = 0;
  StopReason reason = StopReason::kFinished;
  std::string message;
  Index steps = 0;  // of all trainings, if there was more than one; the rest is of the last
  int recoveries = 0;
  double seconds = 0;  // with all preparations, without breaks
  double largest_jitter = 0;
};

// By what the table of a training is found and recognised again.
struct TrainingData {
  std::string fingerprint;  // of the Dataset
  std::string origin;       // where it came from, in the words of the program that read it
  // The options of that program, defaults included, by name.
  std::map<std::string, std::vector<std::string>> settings;
};

// Targets of classes, and others that cannot be scaled, have a target_scaler that changes nothing.
struct Model {
  DeepGp network;
  Scaler input_scaler, target_scaler;
  Schema schema;  // how a table becomes the columns of the model
  std::vector<std::string> input_names, target_names;
  Recipe recipe;
  TrainingSummary summary;
  TrainingData data;
  // A stack predicts with the mixture of this network and its companions, which have none of their
  // own. With Gaussian noise, a network may stand in it a second time, under kWideNoise times the
  // variance of the noise: for rows that no network foresees. All shares sum to 1.
  double share = 1, wide_share = 0;
  std::vector<Model> companions;
};

// The model itself and its companions.
std::vector<const Model*> NetworksOf(const Model& model);

// A Gaussian gives a row that is 17 standard deviations off a log density of -145; one of five
// times the width with a share of a thousandth leaves it -15.
constexpr double kWideNoise = 25;

// A model made ready to predict: conditioning costs O(M^3) once. Rows are in the units of the file,
// missing cells allowed.
class ModelPredictor {
 public:
  explicit ModelPredictor(Model model, int threads = 0, Precision precision = Precision::kDouble);

  const Model& model() const { return model_; }
  // Columns as in model().input_names. Of y in the units of the file (of f with options.latent); of
  // classes, for which there are no units, as Likelihood::Observe says.
  Prediction Predict(const Moments& inputs, const PredictOptions& options = {}) const;
  // P(y = class) [N, classes] in the order of model().schema.classes. Throws Error where the model
  // predicts numbers.
  Matrix ClassProbabilities(const Moments& inputs, const PredictOptions& options = {}) const;

 private:
  // Of a network in the mixture, which may not be brought to the sum 1 yet.
  struct Member {
    const Model& model;
    double share, wide_share;
    std::unique_ptr<NetworkPredictor> predictor;
  };

  Model model_;
  ThreadPool pool_;
  std::vector<Member> members_;
};

// safetensors with the description of the model in its metadata. Save is all or nothing;
// Load(Save(m)) predicts the same bits. Load throws Error with file and reason for anything that is
// not a whole, consistent model of a known version.
void SaveModel(const Model& model, const std::string& path);
Model LoadModel(const std::string& path);

}  // namespace fathom

#endif  // FATHOM_FITTED_MODEL_H_
