// The sum of the slots that a batch's rows are dealt to. Neighbours are added first, then pairs of
// neighbours, and so on: a tree that depends on the number of slots alone. Each rank adds the parts
// of the tree that lie in its own slots, so that the bits are the same for any number of ranks and
// threads, and little is sent.
#ifndef FATHOM_INFERENCE_ADD_IN_TREE_H_
#define FATHOM_INFERENCE_ADD_IN_TREE_H_

#include <span>

#include "fathom/base/threads.h"
#include "fathom/distributed/communicator.h"
#include "fathom/inference/sums.h"

namespace fathom {

// Slots [begin, end).
struct SlotRange {
  Index begin = 0;
  Index end = 0;
  bool Holds(Index slot) const { return begin <= slot && slot < end; }
  bool Holds(SlotRange other) const { return begin <= other.begin && other.end <= end; }
};

// The slots of a rank. Rank 0 always has the first; ranks beyond the number of slots have none.
SlotRange SlotsOfRank(Index slots, int rank, int ranks);
int RankOfSlot(Index slot, Index slots, int ranks);

// What is sent and received, kept between calls.
struct TreeMemory {
  Parcels out, in;
};

// Adds all slots, of which this rank has those of SlotsOfRank. The sum then stands in sums[0] of
// rank 0. All ranks call it together.
void AddInTree(std::span<Sums> sums, const Communicator& ranks, const ThreadPool& pool,
               TreeMemory* memory);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_ADD_IN_TREE_H_
