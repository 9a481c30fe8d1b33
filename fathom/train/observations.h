// From the targets of a table to the observations of a likelihood.
#ifndef FATHOM_TRAIN_OBSERVATIONS_H_
#define FATHOM_TRAIN_OBSERVATIONS_H_

#include <string>

#include "fathom/data/dataset.h"
#include "fathom/data/dataset_rows.h"
#include "fathom/data/standardize.h"
#include "fathom/likelihood/likelihood.h"

namespace fathom {

// The likelihood of that name, or for "auto" the one that the targets call for: gaussian for
// numbers, probit for two classes, robust_max for more. Throws Error if it is not one for such
// targets. The rows are not looked at.
//
// robust_max and not softmax, since one step of a fit takes a fraction of the time; see
// docs/reference/likelihoods.md.
std::string ChooseLikelihood(const std::string& name, const Dataset& dataset);

// Functions that the likelihood has for the targets of the dataset; its rows are not looked at.
Index NumOutputs(const Likelihood& likelihood, const Dataset& dataset);

// Returns the scaler of the targets; it changes nothing if the likelihood needs them as they are.
Scaler FitTargetScaler(const Likelihood& likelihood, const DatasetRows& rows);
Scaler FitTargetScaler(const Likelihood& likelihood, const Dataset& dataset);

// y [N, targets] as LogZ wants it. Throws Error, with the table's name, for targets that the
// likelihood cannot explain.
Matrix Observations(const Likelihood& likelihood, const Scaler& scaler, const Dataset& dataset);

}  // namespace fathom

#endif  // FATHOM_TRAIN_OBSERVATIONS_H_
