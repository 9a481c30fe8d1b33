// Include this to add a likelihood of your own. Give GenericLikelihood a log density, or derive
// from Likelihood; then register it.
#ifndef FATHOM_LIKELIHOOD_H_
#define FATHOM_LIKELIHOOD_H_

#include "fathom/likelihood/generic.h"
#include "fathom/likelihood/likelihood.h"

#endif  // FATHOM_LIKELIHOOD_H_
