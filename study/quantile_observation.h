// A distribution that is known by its quantiles: what a program from outside may predict.
#ifndef FATHOM_STUDY_QUANTILE_OBSERVATION_H_
#define FATHOM_STUDY_QUANTILE_OBSERVATION_H_

#include <vector>

#include "fathom/distribution/prediction.h"

namespace fathom {

// values [N, K] are the quantiles of N rows at K >= 2 rising levels in (0, 1). Between two of them
// the density is constant; beyond the outer ones it falls exponentially, from the height of the
// interval beside. Values that fall are sorted first; equal ones are taken apart by a billionth of
// their range. Throws Error unless the levels rise.
Prediction PredictionOfQuantiles(const std::vector<double>& levels, Matrix values);

}  // namespace fathom

#endif  // FATHOM_STUDY_QUANTILE_OBSERVATION_H_
