// How Minimize goes about it, as data.
#ifndef FATHOM_OPTIMIZE_OPTIONS_H_
#define FATHOM_OPTIMIZE_OPTIONS_H_

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

struct MinimizeOptions {
  Index steps = 1000;  // from MinimizeState::first_step on
  // All rows if the table has no more; otherwise the remainder of an epoch is left out.
  Index batch_size = 256;
  double learning_rate = 0.03;
  Index warm_up = 100;     // without it the energy explodes in the first steps of a wide network
  bool decay = true;       // half a cosine from there to zero; else the rate stays
  double time_budget = 0;  // seconds; if it ends before the steps do, so does the decay. 0: none
  // Plateau rule: when the smoothed value has gained less than `tolerance` over `patience` steps,
  // the rate is brought to zero over `cool_down` steps and the run ends. patience = 0 switches it
  // off.
  Index patience = 1000;
  double tolerance = 1e-3;
  Index cool_down = 150;
  int max_recoveries = 10;
  AdamOptions adam = {};
};

}  // namespace fathom

#endif  // FATHOM_OPTIMIZE_OPTIONS_H_
