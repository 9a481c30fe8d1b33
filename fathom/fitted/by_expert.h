// The members of a model by the experts behind them.
#ifndef FATHOM_FITTED_BY_EXPERT_H_
#define FATHOM_FITTED_BY_EXPERT_H_

#include <span>
#include <vector>

#include "fathom/fitted/model.h"

namespace fathom {

// Neighbours that share an expert, from the first member to the last. They differ in their noise
// alone, so that whoever asks the expert asks it once for all of them.
std::vector<std::span<const Member>> ByExpert(std::span<const Member> members);

// The weight of some members together.
double WeightOf(std::span<const Member> members);

// Brings the weights to the sum 1.
void NormalizeWeights(std::vector<Member>* members);

}  // namespace fathom

#endif  // FATHOM_FITTED_BY_EXPERT_H_
