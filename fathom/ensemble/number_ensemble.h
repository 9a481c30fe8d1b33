// The members of an ensemble for numbers, once its networks are trained.
#ifndef FATHOM_ENSEMBLE_NUMBER_ENSEMBLE_H_
#define FATHOM_ENSEMBLE_NUMBER_ENSEMBLE_H_

#include <functional>
#include <memory>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/ensemble/cross_fit.h"
#include "fathom/ensemble/neighbour_candidate.h"
#include "fathom/ensemble/scaled_table.h"
#include "fathom/ensemble/tree_candidate.h"
#include "fathom/fitted/calibration.h"
#include "fathom/linear/ridge.h"
#include "fathom/optimize/progress.h"

namespace fathom {

class NumberEnsemble {
 public:
  using Callback = std::function<bool(const Progress&)>;

  // Fits the straight line and the neighbour GP on it, unless the recipe wants networks alone.
  // `on_line`: OnLine() of an earlier fit to the same table, whose hyperparameters are used again.
  // Keeps references to the table, the pool and the recipe.
  NumberEnsemble(const ScaledTable& table, const Recipe& recipe, const ThreadPool& pool,
                 Callback callback, const std::vector<NeighbourGp>& on_line = {});

  // The neighbour GPs on the straight line; empty if there are none.
  std::vector<NeighbourGp> OnLine() const;

  // The squared error of left-out rows, by the best of what was fitted so far.
  double SquaredError() const;

  // Whether a kind is worth training on further folds, by the rows of the folds that it has done.
  // Fits trees to compare with.
  bool IsPromising(const CrossFit& kind);

  // Adds trees, and neighbour GPs on them and on the kinds, all of which are complete; weighs and
  // calibrates.
  void Finish(const std::vector<const CrossFit*>& kinds);

  // The kind with hidden layers that most of the weight rests on, alone or below neighbours; null
  // if there is none. Networks of it are worth training for longer.
  const CrossFit* carrier() const { return carrier_; }

  // Adds networks that have a fold each to judge them by. Together they are weighed against all
  // that is there, and the calibration follows. One of them judges a row of these folds, and the
  // mean of all predicts new rows, which is a little better than what is checked.
  void AddSpecialists(const CrossFit& specialists);

  // The members in the order in which they build on each other, and their calibration.
  const std::vector<Member>& members() const { return members_; }
  const std::shared_ptr<const Calibration>& calibration() const { return calibration_; }
  // [N, targets] in scaled units: the centre of each row's density, for Spread, from members that
  // have not seen the row; without specialists.
  const Moments& centre() const { return centre_; }

 private:
  // A neighbour GP, or null where none could be fitted. See NeighbourCandidate::Options.
  std::unique_ptr<NeighbourCandidate> FitNeighbours(const Moments& trend,
                                                    const std::vector<NeighbourGp>& known = {},
                                                    std::vector<Matrix> trend_without = {}) const;
  // One on what networks or trees leave over; null where that may not be learnt.
  std::unique_ptr<NeighbourCandidate> FitResiduals(const Moments& trend) const;
  // Does nothing where they are there, or none can be.
  void FitTrees();
  void Assemble(const std::vector<const CrossFit*>& kinds, const Vector& weights);

  const ScaledTable& table_;
  const Recipe& recipe_;
  const ThreadPool& pool_;
  Callback callback_;
  std::unique_ptr<RidgeFit> line_;
  std::unique_ptr<NeighbourCandidate> on_line_;
  std::vector<std::unique_ptr<NeighbourCandidate>> on_kinds_;
  std::unique_ptr<TreeCandidate> trees_;
  std::unique_ptr<NeighbourCandidate> on_trees_;
  std::vector<Member> members_;
  std::shared_ptr<const Calibration> calibration_;
  const CrossFit* carrier_ = nullptr;
  Moments blend_;   // [N, targets]: the centre without local noise
  Moments centre_;  // and with it
};

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_NUMBER_ENSEMBLE_H_
