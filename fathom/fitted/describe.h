// What a user is told about a model beside its predictions.
#ifndef FATHOM_FITTED_DESCRIBE_H_
#define FATHOM_FITTED_DESCRIBE_H_

#include <string>
#include <vector>

#include "fathom/fitted/model.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

// "8 inputs -> 5 hidden -> 1 output, 100 pseudo-points per function".
std::string DescribeNetwork(const DeepGp& network);

// "moments", "100 samples", "16 points": how an ensemble names the kinds of its networks.
std::string DescribePropagation(const DeepGp& network);

// [outputs]: what an observation adds to the variance of a function that is known to be zero.
Vector ObservationVariance(const DeepGp& network);

// [targets]: standard deviation of the observation noise, in the units of the file; empty where the
// noise depends on the function, as it does for counts and classes.
Vector NoiseStd(const Member& member);
Vector NoiseStd(const DeepGp& network, const Scaler& target_scaler);

// [functions, inputs] of a layer: the distance over which each function changes, the root of its
// prior variance over that of its slope. For se_ard these are the lengthscales; 0 where functions
// are linear and no distance counts.
Matrix Lengthscales(const GpLayer& layer);

}  // namespace fathom

#endif  // FATHOM_FITTED_DESCRIBE_H_
