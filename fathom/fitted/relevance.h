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
  // file; in an ensemble, of its first network or, if it has none, of its neighbour GP. Infinite
  // for a straight line.
  Vector lengthscale;
  // [targets, inputs]: root mean square slope of the prediction, relative to the largest of the
  // row. Slopes are per standard deviation of the input, taken at the pseudo-inputs of layer 0,
  // averaged over members by weight. With more than 1000 inputs, expected slopes from the kernels.
  Matrix share;
};
// Throws Error unless KnowsRelevance.
Relevance FindRelevance(const Model& model);
// Whether all members are deep GPs, neighbour GPs, straight lines or logistic regressions.
bool KnowsRelevance(const Model& model);

}  // namespace fathom

#endif  // FATHOM_FITTED_RELEVANCE_H_
