// A linear regression, against which a deep model should be measured.
#ifndef FATHOM_FIT_LINEAR_BASELINE_H_
#define FATHOM_FIT_LINEAR_BASELINE_H_

#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/dataset.h"
#include "fathom/data/split.h"
#include "fathom/evaluate/evaluation.h"

namespace fathom FATHOM_PUBLIC {

// Predicts the targets of `test`, which are numbers, by least squares on `train`, with the variance
// of the noise and of the coefficients. A missing input counts as the mean of its column.
Prediction PredictLinear(const Dataset& train, const Dataset& test);

// The scores of PredictLinear on the same splits as a cross-validation.
FoldScores CrossValidateLinear(const Dataset& dataset, const std::vector<Split>& splits);

}  // namespace fathom

#endif  // FATHOM_FIT_LINEAR_BASELINE_H_
