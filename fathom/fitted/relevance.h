// Which columns a model has learnt from.
#ifndef FATHOM_FITTED_RELEVANCE_H_
#define FATHOM_FITTED_RELEVANCE_H_

#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/fitted/model.h"

namespace fathom FATHOM_PUBLIC {

// Names of the inputs and targets that never varied in the training data, from which nothing can be
// learnt.
std::vector<std::string> ConstantColumns(const Model& model);

// How strongly the targets depend on the inputs.
struct Relevance {
  // [inputs]: the shortest lengthscale among the functions of the first layer, in the units of the
  // file; in an ensemble, of the network with the largest weight.
  Vector lengthscale;
  // [targets, inputs]: root of the mean squared slope of the prediction per standard deviation of
  // the input, over the pseudo-inputs of the first layer, the functions of the target and, by
  // their weights, the networks of an ensemble, relative to the largest of its row. Of more than 1000
  // inputs, where that would take minutes, the slopes that the kernels expect.
  Matrix share;
};
Relevance FindRelevance(const Model& model);

}  // namespace fathom

#endif  // FATHOM_FITTED_RELEVANCE_H_
