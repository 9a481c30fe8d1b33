// What an ensemble makes of its members where the target is a class: a mixture of the kinds of
// networks and a logistic regression, weighted by the rows that they have not seen.
#ifndef FATHOM_ENSEMBLE_CLASS_ENSEMBLE_H_
#define FATHOM_ENSEMBLE_CLASS_ENSEMBLE_H_

#include <vector>

#include "fathom/data/dataset.h"
#include "fathom/ensemble/cross_fit.h"
#include "fathom/ensemble/scaled_table.h"
#include "fathom/fitted/model.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

// Whether a kind is not far behind those that are complete, on the rows of the folds that it has
// done.
bool IsPromisingForClasses(const ScaledTable& table, const Recipe& recipe, const CrossFit& kind,
                           const std::vector<const CrossFit*>& complete);

// `complete` are kinds that have predicted all rows. Empty if there are none, and the table is too
// large for a logistic regression.
std::vector<Member> MixtureOfClasses(const ScaledTable& table, const Dataset& dataset,
                                     const Recipe& recipe,
                                     const std::vector<const CrossFit*>& complete);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_CLASS_ENSEMBLE_H_
