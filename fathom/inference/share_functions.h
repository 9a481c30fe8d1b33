// The part of a step that costs O(M^3) for each function, divided over the ranks by functions: each
// rank conditions its own, and takes their gradient back through K. What is sent is O(M^2).
#ifndef FATHOM_INFERENCE_SHARE_FUNCTIONS_H_
#define FATHOM_INFERENCE_SHARE_FUNCTIONS_H_

#include "fathom/base/threads.h"
#include "fathom/distributed/communicator.h"
#include "fathom/model/conditioned_model.h"

namespace fathom {

// What is sent and received, kept between calls.
struct FunctionMemory {
  Parcels out, in;
};

// All functions if there are so many ranks that sending would take longer than computing.
FunctionShare ShareOf(const Communicator& ranks);

// After each rank has prepared its share: every rank gets what the rows need of all functions.
void ExchangeFunctions(const DeepGp& model, const Communicator& ranks, ConditionedModel* gps,
                       FunctionMemory* memory);

// After rank 0 has the gradient of the rows, scaled: rank 0 gets that of all parameters of the GPs,
// as ConditionedModel::Backward gives it. The other ranks call it with a *gradient of the model's
// shape, for memory.
void BackwardTogether(const DeepGp& model, const Communicator& ranks, const ThreadPool& pool,
                      ConditionedModel* gps, DeepGp* gradient, FunctionMemory* memory);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_SHARE_FUNCTIONS_H_
