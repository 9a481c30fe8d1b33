#include "fathom/fitted/calibration.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/fitted/beyond.h"
#include "fathom/fitted/expert.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/seen_rows.h"

namespace fathom {

Moments Centre(const std::vector<Moments>& members, const std::vector<double>& weights) {
  FATHOM_CHECK(!members.empty() && members.size() == weights.size());
  Moments centre;
  centre.SetZero(members[0].rows(), members[0].cols());
  for (std::size_t k = 0; k < members.size(); ++k) centre.mean += weights[k] * members[k].mean;
  for (std::size_t k = 0; k < members.size(); ++k) {
    centre.var.array() +=
        weights[k] * (members[k].var.array() + (members[k].mean - centre.mean).array().square());
  }
  return centre;
}

Prediction Spread(const Calibration& calibration, const Moments& centre) {
  Prediction prediction;
  prediction.weights = calibration.shares;
  prediction.scales = calibration.scales;
  const Eigen::RowVectorXd least = calibration.floor.cwiseAbs2().transpose();
  for (Index s = 0; s < calibration.scales.size(); ++s) {
    const double scale = calibration.scales[s];
    Matrix var = scale * scale * centre.var;
    for (Index n = 0; n < var.rows(); ++n) var.row(n) = var.row(n).cwiseMax(least);
    prediction.components.emplace_back(centre.mean, std::move(var));
  }
  return prediction;
}

Vector SharesOf(const Vector& share_logit, const Vector& q) {
  // The logit of a share that is 0 or 1, or beyond, would be infinite.
  constexpr double kLeast = 0.005;
  return q.unaryExpr([&](double share) {
    const double inside = std::clamp(share, kLeast, 1 - kLeast);
    const double f = share_logit[0] + share_logit[1] * std::log(inside / (1 - inside));
    return 1 / (1 + std::exp(-f));
  });
}

namespace {

void CheckShare(const Calibration& calibration, Index inputs, Index targets) {
  const TargetShape& shape = calibration.shape;
  CheckShape(shape);
  if (!shape.is_plain() && targets != 1) ThrowError("several targets cannot have a shape");
  if (shape.has_share() != (calibration.share_logit.size() == 2) ||
      !calibration.share_logit.allFinite() || (shape.gap > 0 && calibration.share == nullptr) ||
      (calibration.share != nullptr &&
       (!shape.has_share() || calibration.share->schema().width() != inputs)))
    ThrowError("the share of the frequent value, or of a hump, does not fit the model");
}

}  // namespace

void CheckCalibration(const Calibration& calibration, Index inputs, Index targets) {
  const Index S = calibration.scales.size();
  constexpr double kRounding = 1e-6;
  const bool positive = S > 0 && calibration.scales.allFinite() && calibration.shares.allFinite() &&
                        (calibration.scales.array() > 0).all() &&
                        (calibration.shares.array() > 0).all();
  if (!positive || calibration.shares.size() != S ||
      std::abs(calibration.shares.sum() - 1) > kRounding)
    ThrowError("the scales of its calibration, or their shares, are out of range");
  if (calibration.floor.size() != targets || !calibration.floor.allFinite() ||
      (calibration.floor.array() < 0).any())
    ThrowError("the floor of its calibration is out of range");
  CheckShare(calibration, inputs, targets);
  if (calibration.local_noise == nullptr && calibration.seen == nullptr &&
      calibration.beyond == nullptr)
    return;
  if (calibration.input_scaler.mean.size() != inputs ||
      calibration.target_scaler.mean.size() != targets)
    ThrowError("the scalers of its calibration do not fit the model");
  CheckWarps(calibration.input_scaler.warps, inputs);
  if (calibration.seen != nullptr)
    CheckSeenRows(*calibration.seen, calibration.input_scaler.outputs(), targets);
  if (calibration.beyond != nullptr)
    CheckBeyond(*calibration.beyond, calibration.input_scaler.outputs(), targets);
  if (calibration.local_noise == nullptr) return;
  calibration.local_noise->Check();
  if (calibration.local_noise->num_outputs() != targets ||
      calibration.local_noise->num_inputs() != calibration.input_scaler.outputs() + targets)
    ThrowError("the local noise of its calibration does not fit the model");
}

}  // namespace fathom
