// The waist between the mathematics and the machinery: all that an optimiser knows of a model.
#ifndef FATHOM_OPTIMIZE_OBJECTIVE_H_
#define FATHOM_OPTIMIZE_OBJECTIVE_H_

#include <span>
#include <string>

#include "fathom/base/types.h"

namespace fathom {

class Objective {
 public:
  virtual ~Objective() = default;
  virtual Index num_parameters() const = 0;
  virtual Index num_rows() const = 0;
  // The value to be made small, estimated from the rows `batch`, and its exact gradient (may be
  // null). False, with a reason, if they could not be computed as finite numbers.
  virtual bool Evaluate(const Vector& parameters, std::span<const Index> batch, double* value,
                        Vector* gradient, std::string* reason) const = 0;
};

}  // namespace fathom

#endif  // FATHOM_OPTIMIZE_OBJECTIVE_H_
