#include "fathom/likelihood/labels.h"

#include "fathom/base/error.h"

namespace fathom {

void CheckLabels(const std::string& likelihood, Index outputs, const Matrix& y) {
  if (outputs < 2) {
    ThrowError("the likelihood '", likelihood, "' needs an output per class, at least 2, has ",
               outputs);
  }
  FATHOM_CHECK(y.cols() == 1);
  for (Index n = 0; n < y.rows(); ++n) {
    const double label = y(n, 0);
    if (label >= 0 && label < static_cast<double>(outputs) &&
        label == static_cast<double>(static_cast<Index>(label))) {
      continue;
    }
    ThrowError("the label of row ", n, " must be a whole number in 0..", outputs - 1, ", is ",
               label);
  }
}

}  // namespace fathom
