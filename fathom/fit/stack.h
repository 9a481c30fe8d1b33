// A mixture of models of several kinds, each of which some tables call for: moments between the
// layers, sampled paths, learnt points, one layer more, no hidden layer. Every kind is first fitted
// to nine tenths of the rows; how well it predicts the others decides its share. Those with a share
// worth having then go on with all rows. With Gaussian noise, one of them stands there a second time
// with more of it, for outliers.
#ifndef FATHOM_FIT_STACK_H_
#define FATHOM_FIT_STACK_H_

#include <vector>

#include "fathom/fit/fit.h"

namespace fathom {

// Whether Fit makes a stack of it.
bool MakesStack(const Dataset& dataset, const Recipe& recipe);

// The recipes of the kinds; the first is the given one.
std::vector<Recipe> StackRecipes(const Recipe& recipe, const Dataset& dataset);

// [members]: the weights w, positive and summing to 1, that maximise
//   sum_n c_n log sum_k w_k exp(l_nk) + sum_k log w_k / members                    [stack-shares]
// where l [rows, members] are log densities of rows that no member has seen, and row n counts as c_n
// rows (no weights: as one). The second term is one row that all members predict equally well, and
// keeps every share from vanishing.
Vector StackShares(const Matrix& log_densities, const Vector& weights = {});

// The nearest shares on the way to those of the reference whose mean is not much worse than that of
// the reference: paths find the shape of a density, and should not buy it with the mean. `errors`
// [n, members] are those of the members' means.
Vector KeepMean(const Vector& shares, const Vector& reference, const Matrix& errors);

// For recipes that ask for a stack: what Fit and Resume do then. The checkpoint of a stack holds
// the networks that are done as companions of the one in training.
Model FitStack(const Dataset& dataset, const Recipe& recipe, const FitControl& control);
Model ResumeStack(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control);

}  // namespace fathom

#endif  // FATHOM_FIT_STACK_H_
