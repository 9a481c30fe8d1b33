// Which shape the target of a table has (distribution/target_shape.h). Its nature says what may
// suit; left-out rows, predicted by the cheap members of an ensemble (a straight line and
// neighbours), say whether it does.
#ifndef FATHOM_ENSEMBLE_TARGET_CHOICE_H_
#define FATHOM_ENSEMBLE_TARGET_CHOICE_H_

#include <functional>
#include <memory>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/data/dataset.h"
#include "fathom/data/target_nature.h"
#include "fathom/ensemble/number_ensemble.h"
#include "fathom/fitted/calibration.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

// What ShapedTarget needs to know of an ensemble.
struct EnsembleParts {
  std::vector<Member> members;
  Calibration calibration;
  Moments centre;  // see NumberEnsemble::centre
  std::vector<NeighbourGp> on_line = {};
};

// The shapes that may suit, the plainest first.
std::vector<TargetShape> ShapesFor(const TargetNature& nature, const Vector& target);

// The target as an ensemble learns it.
class ShapedTarget {
 public:
  // Any number, as it stands in the dataset.
  explicit ShapedTarget(const Dataset& dataset) : all_(dataset), latent_(dataset) {}
  // `fit` makes the ensemble that learns the share of a frequent value, or of the upper of two
  // humps, to which the rows belong where `upper` [N] is 1 and not 0.
  using Fit = std::function<EnsembleParts(const ScaledTable& table)>;
  ShapedTarget(const Dataset& dataset, const TargetShape& shape, const Recipe& recipe,
               const Fit& fit, const Vector& upper = {});

  const TargetShape& shape() const { return shape_; }
  Index rows() const { return all_.rows(); }
  // The rows that the members learn, with z in place of y: all but those of the frequent value.
  const Dataset& latent() const { return latent_; }
  // The latent rows, scaled.
  ScaledTable Scaled(const Recipe& recipe) const;
  // The calibration of an ensemble of Scaled() with what this adds to it.
  std::shared_ptr<const Calibration> Complete(const EnsembleParts& ensemble,
                                              const ScaledTable& table) const;

 private:
  bool has_two_values() const { return shape_.has_value && share_ == nullptr; }
  void LearnShare(const Recipe& recipe, const Fit& fit);

  Dataset all_, latent_;
  TargetShape shape_;
  std::vector<Index> rows_of_latent_;
  Vector apart_;  // [N]: 1 where y is the frequent value, or on the upper hump; else 0
  std::shared_ptr<const Model> share_;  // predicts apart_; null if there are two values
  Vector q_;                            // [N] as share_ predicts each row without itself
};

struct TargetChoice {
  ShapedTarget target;
  // NumberEnsemble::OnLine() of target.Scaled(), if it was found on the way.
  std::vector<NeighbourGp> on_line = {};
};
// The shape that predicts left-out rows best. Others than the plain one must be worth it.
TargetChoice ChooseTarget(const Dataset& dataset, const Recipe& recipe, const ThreadPool& pool);

// [a, b] that maximise the log probability of is_value given q: see [value-share]. The prior, one
// row's worth, holds them near 0 and 1.
Vector FitShareLogit(const Vector& q, const Vector& is_value, const Vector& weights = {});

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_TARGET_CHOICE_H_
