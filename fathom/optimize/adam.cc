#include "fathom/optimize/adam.h"

#include <cmath>

namespace fathom {

void AdamStep(const AdamOptions& options, double rate, const Vector& gradient, AdamState* state,
              Vector* parameters) {
  ++state->updates;
  const auto t = static_cast<double>(state->updates);
  state->first += (1 - options.beta1) * (gradient - state->first);
  state->second.array() +=
      (1 - options.beta2) * (gradient.array().square() - state->second.array());
  const double correction1 = 1 - std::pow(options.beta1, t);
  const double correction2 = 1 - std::pow(options.beta2, t);
  parameters->array() -= rate / correction1 * state->first.array() /
                         ((state->second.array() / correction2).sqrt() + options.epsilon);
}

}  // namespace fathom
