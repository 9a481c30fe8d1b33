// What a user is told about a model beside its predictions.
#ifndef FATHOM_FITTED_DESCRIBE_H_
#define FATHOM_FITTED_DESCRIBE_H_

#include <string>
#include <vector>

#include "fathom/fitted/model.h"

namespace fathom {

// "8 inputs -> 5 hidden -> 1 output, 100 pseudo-points per function".
std::string DescribeNetwork(const DeepGp& network);

// "moments", "100 samples", "16 points": how a stack names the kinds of its networks.
std::string DescribePropagation(const DeepGp& network);

// Names of the inputs and targets that never varied in the training data, from which nothing can be
// learnt.
std::vector<std::string> ConstantColumns(const Model& model);

// [outputs]: what an observation adds to the variance of a function that is known to be zero.
Vector ObservationVariance(const DeepGp& network);

// [targets]: standard deviation of the observation noise, in the units of the file; empty where the
// noise depends on the function, as it does for counts and classes.
Vector NoiseStd(const Model& model);

// [functions, inputs] of a layer: the distance over which each function changes, the root of its
// prior variance over that of its slope. For se_ard these are the lengthscales; 0 where functions
// are linear and no distance counts.
Matrix Lengthscales(const GpLayer& layer);

// How strongly the targets depend on the inputs.
struct Relevance {
  // [inputs]: the shortest lengthscale among the functions of the first layer, in the units of the
  // file; in a stack, of the network with the largest share.
  Vector lengthscale;
  // [targets, inputs]: root of the mean squared slope of the prediction per standard deviation of
  // the input, over the pseudo-inputs of the first layer, the functions of the target and, by
  // their shares, the networks of a stack, relative to the largest of its row. Of more than 1000
  // inputs, where that would take minutes, the slopes that the kernels expect.
  Matrix share;
};
Relevance FindRelevance(const Model& model);

}  // namespace fathom

#endif  // FATHOM_FITTED_DESCRIBE_H_
