// The part of a step that costs O(M^3) for each function, divided over the ranks by functions: each
// rank conditions its own, gets the rows' sums for them, and takes their gradient back through K.
// What is sent is O(M^2).
#ifndef FATHOM_INFERENCE_SHARE_FUNCTIONS_H_
#define FATHOM_INFERENCE_SHARE_FUNCTIONS_H_

#include <vector>

#include "fathom/base/threads.h"
#include "fathom/distributed/communicator.h"
#include "fathom/inference/add_in_tree.h"
#include "fathom/inference/network.h"
#include "fathom/model/conditioned_model.h"

namespace fathom {

// Which functions each rank conditions.
class FunctionShares {
 public:
  // Runs of functions that take about as long for each rank. Every rank has all functions if there
  // are so many ranks that sending would take longer than computing, or if the functions of a layer
  // have covariances and so their sums in common.
  FunctionShares(const DeepGp& shape, const Communicator& ranks);

  const Communicator& ranks() const { return ranks_; }
  bool shared() const { return !begins_.empty(); }
  FunctionShare Of(int rank) const;
  FunctionShare mine() const { return Of(ranks_.rank()); }

  // Where functions are shared: the sums of each rank's functions. Rank 0 also has what belongs to
  // no function.
  Sections SectionsOf(const Sums::Layout& layout) const;

 private:
  const Communicator& ranks_;
  std::vector<Index> begins_;  // [ranks + 1]; empty: not shared
};

// What is sent and received, kept between calls.
struct FunctionMemory {
  Parcels out, in;
};

// After each rank has prepared its share: every rank gets what the rows need of all functions.
void ExchangeFunctions(const DeepGp& model, const FunctionShares& shares, ConditionedModel* gps,
                       FunctionMemory* memory);

// After each rank has the gradient of its share, as ConditionedModel::Backward gives it: rank 0
// gets that of all functions. The other ranks' *gradient has the model's shape.
void GatherGradient(const FunctionShares& shares, const ConditionedModel& gps, DeepGp* gradient,
                    FunctionMemory* memory);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_SHARE_FUNCTIONS_H_
