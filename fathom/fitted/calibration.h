// How the members of an ensemble make one density. Their means are averaged; how far off that is,
// rows that were left out have told:
//   centre    = sum_k w_k m_k
//   spread^2  = exp(2 g) sum_k w_k (v_k + (m_k - centre)^2)
//   p(y)      = sum_s p_s N(y; centre, max(c_s spread, floor)^2)                      [calibration]
// The members' own variances say where they know little; g, a neighbour GP of the logarithms of the
// errors, where the table is noisier than they think; the scales c with their shares p, how heavy
// the tails are. The floor keeps a density from sitting on single values of a target that is given
// in steps. Where the target has a shape (distribution/target_shape.h), all this is about z.
#ifndef FATHOM_FITTED_CALIBRATION_H_
#define FATHOM_FITTED_CALIBRATION_H_

#include <memory>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/data/standardize.h"
#include "fathom/distribution/prediction.h"
#include "fathom/distribution/target_shape.h"

namespace fathom {

class Expert;
class Model;
struct Beyond;
struct SeenRows;

// What was seen of the whole model on rows that were left out in turn.
struct HeldOutCheck {
  Index rows = 0;
  double coverage_95 = 0;     // of the central interval of 95 %, as a share of the rows
  double log_likelihood = 0;  // mean, in the units of the file
  double rmse = 0;            // of the first target
};

struct Calibration {
  Vector scales;  // [S] c
  Vector shares;  // [S] p, summing to 1
  Vector floor;   // [targets], standard deviations in the units of the file
  // g; null: 0. Its inputs are those of the scaler and behind them the centre, scaled.
  std::shared_ptr<const Expert> local_noise = nullptr;
  // Rows that need no members, since the training rows had copies of them; null: none.
  std::shared_ptr<const SeenRows> seen = nullptr;
  // Beyond the range of the training rows; null: members are taken at their word.
  std::shared_ptr<const Beyond> beyond = nullptr;
  Scaler input_scaler = {}, target_scaler = {};  // of local_noise, seen and beyond
  HeldOutCheck check = {};
  TargetShape shape = {};
  // Predicts the share q of the shape's frequent value or upper hump; null: the centre, from least
  // to value, is q. The probability is 1 / (1 + exp(-a - b logit q)), share_logit = [a, b].
  //                                                                                [value-share]
  std::shared_ptr<const Model> share = nullptr;
  Vector share_logit = {};
};

// [N]: the probabilities of the frequent value, or of the upper hump.
Vector SharesOf(const Vector& share_logit, const Vector& q);

// The centre and the members' own variance around it. `means` are the members' predictions and
// `weights` their shares.
Moments Centre(const std::vector<Moments>& members, const std::vector<double>& weights);

// The density around a centre whose standard deviation is already multiplied by exp(g).
Prediction Spread(const Calibration& calibration, const Moments& centre);

// Throws Error with the reason unless it fits a model of so many targets.
void CheckCalibration(const Calibration& calibration, Index inputs, Index targets);

}  // namespace fathom

#endif  // FATHOM_FITTED_CALIBRATION_H_
