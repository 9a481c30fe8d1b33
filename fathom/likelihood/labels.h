// What targets must be, for several likelihoods each.
#ifndef FATHOM_LIKELIHOOD_LABELS_H_
#define FATHOM_LIKELIHOOD_LABELS_H_

#include <string>

#include "fathom/base/types.h"

namespace fathom {

// Empty if y is it; see Likelihood::TargetRule. A label is a whole number in 0..outputs-1, a count
// one from 0 on.
std::string LabelRule(Index outputs, double y);
std::string CountRule(double y);

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_LABELS_H_
