// Training by EP or SEP: the hyperparameters move by Adam on the energy with the factors fixed, and
// after each step the factors are updated once by moment matching at the new hyperparameters.
#ifndef FATHOM_FIT_ALTERNATE_H_
#define FATHOM_FIT_ALTERNATE_H_

#include "fathom/fit/recipe.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

struct Alternated {
  DeepGp network;
  Summary run;
  double energy = 0;  // F at the end; of SEP the tied factor's
};

// From a starting network in the whitened form. EP takes all rows in each step, SEP a batch. At the
// end the factors are updated until the posterior has settled, unless the time is used up. Throws
// Error if EP's factors do not fit into memory, NumericalError if no step could be computed.
Alternated Alternate(const DeepGp& start, const Moments& x, const Matrix& y, const Recipe& recipe,
                     double seconds_before, const ProgressCallback& callback);

}  // namespace fathom

#endif  // FATHOM_FIT_ALTERNATE_H_
