// A model made ready to predict.
#ifndef FATHOM_FITTED_PREDICTOR_H_
#define FATHOM_FITTED_PREDICTOR_H_

#include <memory>
#include <span>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/precision.h"
#include "fathom/base/threads.h"
#include "fathom/distribution/joint_prediction.h"
#include "fathom/distribution/prediction.h"
#include "fathom/fitted/model.h"
#include "fathom/inference/predict_options.h"

namespace fathom FATHOM_PUBLIC {

class ExpertPredictor;
class SeenRowsIndex;

// Making one costs O(M^3) for each deep GP of the model. Afterwards it is immutable: any number of
// threads may call its functions at once. Rows are in the units of the file, missing cells allowed.
class ModelPredictor {
 public:
  // threads: how many work on one call, 0: all cores. The result does not depend on them.
  explicit ModelPredictor(Model model, int threads = 0, Precision precision = Precision::kDouble);
  ~ModelPredictor();
  ModelPredictor(const ModelPredictor&) = delete;
  ModelPredictor& operator=(const ModelPredictor&) = delete;

  const Model& model() const { return model_; }
  // Predicts y in the units of the file (f with options.latent) from columns that are those of
  // model().schema().FeatureNames(). Classes have no units: see Likelihood::Observe.
  Prediction Predict(const Moments& inputs, const PredictOptions& options = {}) const;
  // The same of all rows together: how far rows that lie close are off together. Every row alone
  // has the distribution that Predict gives (its mean and variance, where that is a mixture over
  // paths). options.samples: draws of all rows through the hidden layers of a deep GP, 0 for 128.
  // Takes memory in O(N^2) and time in O(N^3). Throws Error for classes, for too many rows and
  // where a member knows rows one by one alone.
  JointPrediction PredictJoint(const Moments& inputs, const PredictOptions& options = {}) const;
  // P(y = class) [N, classes] in the order of model().schema().classes. Throws Error where the
  // model predicts numbers.
  Matrix ClassProbabilities(const Moments& inputs, const PredictOptions& options = {}) const;
  // How much of the variance of a number comes from cells that are missing or uncertain: [N,
  // targets] in squared units of the file, 0 for rows whose cells are all known.
  Matrix VarianceFromCells(const Moments& inputs) const;

 private:
  // What a group says of y, or f, in the units of the file. before: what the groups before it say,
  // their means and the variance that uncertain cells give to these.
  Prediction PredictGroup(std::size_t group, const Moments& inputs, const PredictOptions& options,
                          const std::vector<Moments>& before) const;
  // The scaled inputs of a group and, if it corrects a trend, that: [N, targets], else empty.
  struct GroupRows {
    Moments x;
    Moments trend;
  };
  GroupRows RowsFor(std::size_t group, const Moments& inputs,
                    const std::vector<Moments>& before) const;
  // How much of the variance of a group's prediction comes from uncertain cells, [N, targets] in
  // squared units of the file.
  Matrix CellVariance(std::size_t group, const Moments& inputs,
                      const std::vector<Moments>& before) const;
  // What the groups that build on this one take from it, the mean of whose prediction is given.
  Moments ForOthers(std::size_t group, const Moments& inputs, const Prediction& own,
                    const std::vector<Moments>& before) const;
  // The rows of a group together: y, as PredictGroup has it, of functions f with correlations.
  JointPart JoinRows(std::size_t group, const Prediction& y, const Prediction& f,
                     std::vector<Matrix> correlations) const;
  // The centre of the members' predictions after all corrections. `inside`: the rows as the members
  // saw them. *common [N, targets], unless null: the variance that rows share, corrected likewise.
  Moments CalibratedCentre(const Moments& inputs, const Moments& inside,
                           const std::vector<Moments>& members, Matrix* common) const;
  Prediction SpreadAndShaped(const Moments& inputs, const Moments& centre) const;
  // Rows beyond the range of the training rows are moved to its edge where the model says so.
  Moments MovedInside(const Moments& inputs, bool latent) const;
  // In rows that were seen before, puts what is known of them; they share nothing with others.
  void ReplaceSeen(const Moments& inputs, Moments* centre, Matrix* common) const;
  // [N]: the probability of the frequent value; empty where the target has none.
  Vector ValueShares(const Moments& inputs, const Moments& centre) const;

  // Members that share an expert: it is asked once for all of them.
  struct Group {
    std::span<const Member> members;  // of model_
    std::unique_ptr<ExpertPredictor> expert;
    std::vector<std::size_t> trend;  // groups
    bool others_build_on_it = false;
  };

  Model model_;
  ThreadPool pool_;
  std::vector<Group> groups_;
  std::unique_ptr<ExpertPredictor> local_noise_;
  std::unique_ptr<SeenRowsIndex> seen_;
  std::unique_ptr<ModelPredictor> share_;  // of the frequent value
};

}  // namespace fathom

#endif  // FATHOM_FITTED_PREDICTOR_H_
