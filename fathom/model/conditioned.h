// What the rows need of a sparse GP's distribution over its pseudo-outputs u ~ N(m, V), whatever
// form stores it:
//   a = K^-1 m,   S = K^-1 - K^-1 V K^-1,   phi = LogPartition(m, V) - LogPartition(prior),
// where LogPartition = 1/2 log|V| + 1/2 m'V^-1 m (the paper's phi, without the 2 pi terms, which
// cancel in the energy).
#ifndef FATHOM_MODEL_CONDITIONED_H_
#define FATHOM_MODEL_CONDITIONED_H_

#include "fathom/base/types.h"

namespace fathom {

struct Conditioned {
  Vector a;  // [M]
  Matrix S;  // [M, M], symmetric
  double phi = 0;

  void SetZero(Index M) {
    a.setZero(M);
    S.setZero(M, M);
    phi = 0;
  }
};

}  // namespace fathom

#endif  // FATHOM_MODEL_CONDITIONED_H_
