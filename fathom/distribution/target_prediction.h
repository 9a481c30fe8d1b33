// What is predicted of the targets, be they numbers or classes. Whoever predicts decides which of
// the two it is; scores, tables and studies take either.
#ifndef FATHOM_DISTRIBUTION_TARGET_PREDICTION_H_
#define FATHOM_DISTRIBUTION_TARGET_PREDICTION_H_

#include <variant>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/distribution/prediction.h"

namespace fathom FATHOM_PUBLIC {

struct ClassPrediction {
  Matrix probability;  // P(y = class) [N, classes]
};

using TargetPrediction = std::variant<Prediction, ClassPrediction>;

Index RowsOf(const TargetPrediction& prediction);
bool IsFinite(const TargetPrediction& prediction);
// The given rows in the given order.
TargetPrediction Subset(const TargetPrediction& prediction, const std::vector<Index>& rows);

// [N]: the class with the largest probability, the first of several.
std::vector<Index> PredictedClasses(const Matrix& probability);

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTION_TARGET_PREDICTION_H_
