// What the likelihoods of several classes share.
#ifndef FATHOM_LIKELIHOOD_LABELS_H_
#define FATHOM_LIKELIHOOD_LABELS_H_

#include <string>

#include "fathom/base/types.h"

namespace fathom {

// Throws Error unless there are two classes or more and each label of y [N, 1] is a whole number in
// 0..outputs-1.
void CheckLabels(const std::string& likelihood, Index outputs, const Matrix& y);

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_LABELS_H_
