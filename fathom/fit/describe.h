// What a user is told about a model beside its predictions.
#ifndef FATHOM_FIT_DESCRIBE_H_
#define FATHOM_FIT_DESCRIBE_H_

#include <string>
#include <vector>

#include "fathom/fit/model.h"

namespace fathom {

// "8 inputs -> 5 hidden -> 1 output, 100 pseudo-points per function".
std::string DescribeNetwork(const DeepGp& network);

// Names of the inputs and targets that never varied in the training data, from which nothing can be
// learnt.
std::vector<std::string> ConstantColumns(const Model& model);

// [targets]: standard deviation of the observation noise, in the units of the file.
Vector NoiseStd(const Model& model);

}  // namespace fathom

#endif  // FATHOM_FIT_DESCRIBE_H_
