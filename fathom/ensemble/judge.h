// What rows that no network has seen say about the networks of an ensemble.
#ifndef FATHOM_ENSEMBLE_JUDGE_H_
#define FATHOM_ENSEMBLE_JUDGE_H_

#include <cstddef>
#include <vector>

#include "fathom/data/dataset.h"
#include "fathom/fitted/model.h"

namespace fathom {

struct Verdict {
  Vector shares;                  // [candidates]
  std::vector<std::size_t> kept;  // the candidates whose share is worth having
  std::size_t leader = 0;         // has the largest share among those that propagate moments
  double wide_share = 0;          // of the leader under more noise
};

// The candidates count by how well they predict `held_out`. Those that failed numerically have no
// share, but the first is always a network.
Verdict Judge(const std::vector<Member>& candidates, const Schema& schema, const Dataset& held_out);

// The members that `latest` [candidates] make under this verdict, the largest share first. The
// leader is followed by itself under more noise.
std::vector<Member> Assemble(const Verdict& verdict, const std::vector<Member>& latest);

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_JUDGE_H_
