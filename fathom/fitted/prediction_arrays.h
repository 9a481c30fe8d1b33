// What a prediction says about many rows at once, as arrays. Rows are shared among the threads of a
// pool; the result does not depend on them.
#ifndef FATHOM_FITTED_PREDICTION_ARRAYS_H_
#define FATHOM_FITTED_PREDICTION_ARRAYS_H_

#include <cstdint>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/threads.h"
#include "fathom/base/types.h"
#include "fathom/distribution/prediction.h"

namespace fathom FATHOM_PUBLIC {

// [N, D P]: the quantile of output d at probability p is in column d P + p. Throws Error for a
// probability that is not in (0, 1).
Matrix Quantiles(const Prediction& prediction, const std::vector<double>& probabilities,
                 const ThreadPool& pool);

// [N, D K] of y [N, D K] in the same order: K values of each output. NaN where y is.
Matrix Cdfs(const Prediction& prediction, const Matrix& y, const ThreadPool& pool);

// The continuous ranked probability score of y [N, D], of the same shape. NaN where y is.
Matrix CrpsOf(const Prediction& prediction, const Matrix& y, const ThreadPool& pool);

// [N, K]: the joint log density of the D outputs of a row at each of K points; y is [N, D K] in the
// same order. NaN where one of the outputs is.
Matrix LogDensities(const Prediction& prediction, const Matrix& y, const ThreadPool& pool);

// [N, D S]: S draws of each output in the same order, by the inverse of the cdf. The draws of a row
// depend on the seed and on its number alone. Outputs are drawn one by one, so that what ties them
// together in a mixture is lost.
Matrix Draws(const Prediction& prediction, Index samples, std::uint64_t seed,
             const ThreadPool& pool);

}  // namespace fathom

#endif  // FATHOM_FITTED_PREDICTION_ARRAYS_H_
