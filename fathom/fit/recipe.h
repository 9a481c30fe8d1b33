// Everything that decides how a table becomes a model, as data: architecture, starting point,
// inference, optimisation. The defaults are the recommended recipe; docs/accuracy.md says how each
// was chosen.
#ifndef FATHOM_FIT_RECIPE_H_
#define FATHOM_FIT_RECIPE_H_

#include "fathom/model/initialize.h"
#include "fathom/optimize/minimize.h"

namespace fathom {

struct Recipe {
  Architecture architecture;
  InitializeOptions start;
  double alpha = 0.5;         // power of EP: 1 is the paper, 0 the variational limit
  double noise_floor = 1e-6;  // least noise variance, of standardised targets
  MinimizeOptions optimizer;
  std::uint64_t seed = 1;  // of the start and of the batches
  int threads = 0;         // 0: all cores. The result does not depend on it
};

// Throws Error naming the first option that is out of range.
void CheckRecipe(const Recipe& recipe);

}  // namespace fathom

#endif  // FATHOM_FIT_RECIPE_H_
