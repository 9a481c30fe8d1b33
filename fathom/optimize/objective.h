// The waist between the mathematics and the machinery: all that an optimiser knows of a model.
#ifndef FATHOM_OPTIMIZE_OBJECTIVE_H_
#define FATHOM_OPTIMIZE_OBJECTIVE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fathom/base/types.h"

namespace fathom {

// The rows that a value is estimated from.
struct Batch {
  Batch(std::span<const Index> batch_rows, std::uint64_t draw_number = 0)  // NOLINT: implicit
      : rows(batch_rows), draw(draw_number) {}
  Batch(const std::vector<Index>& batch_rows) : rows(batch_rows) {}  // NOLINT: implicit

  std::span<const Index> rows;
  // Which random numbers an objective that samples takes: equal draws give equal values.
  std::uint64_t draw = 0;
};

class Objective {
 public:
  virtual ~Objective() = default;
  virtual Index num_parameters() const = 0;
  virtual Index num_rows() const = 0;
  // The value to be made small, estimated from the batch, and its exact gradient (may be
  // null). False, with a reason, if they could not be computed as finite numbers.
  virtual bool Evaluate(const Vector& parameters, const Batch& batch, double* value,
                        Vector* gradient, std::string* reason) const = 0;
  // Says which rows the evaluation after the next one is about, so that rows on a disk can be read
  // while the next one computes. The rows are copied where they are kept.
  virtual void WillNeed(std::span<const Index> /*rows*/) const {}
};

}  // namespace fathom

#endif  // FATHOM_OPTIMIZE_OBJECTIVE_H_
