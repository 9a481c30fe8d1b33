// A likelihood with its parameters, as predictions need it.
#ifndef FATHOM_LIKELIHOOD_OBSERVED_H_
#define FATHOM_LIKELIHOOD_OBSERVED_H_

#include <memory>

#include "fathom/distribution/observation.h"
#include "fathom/likelihood/likelihood.h"

namespace fathom {

// Null where the moments of y tell all (Likelihood::ObservesGaussian).
std::shared_ptr<const Observation> MakeObservation(std::shared_ptr<const Likelihood> likelihood,
                                                   const Vector& parameters, Index outputs);

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_OBSERVED_H_
