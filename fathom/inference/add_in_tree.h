// The sum of the slots that a batch's rows are dealt to. Neighbours are added first, then pairs of
// neighbours, and so on: a tree that depends on the number of slots alone. Each rank adds the parts
// of the tree that lie in its own slots, and then one section of what is left at all ranks. So the
// bits are the same for any number of ranks and threads, and no rank receives more than its share.
#ifndef FATHOM_INFERENCE_ADD_IN_TREE_H_
#define FATHOM_INFERENCE_ADD_IN_TREE_H_

#include <span>
#include <vector>

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

// The numbers [begins[r], begins[r + 1]) of the sums are those of rank r.
struct Sections {
  std::vector<Index> begins;  // [ranks + 1]
  Index begin(int rank) const { return begins[rank]; }
  Index count(int rank) const { return begins[rank + 1] - begins[rank]; }
};
Sections EqualSections(Index size, int ranks);

// Adds all slots, of which this rank has those of SlotsOfRank. The sum of this rank's section then
// stands in its sums[0]. All ranks call it together.
void AddInTree(std::span<Sums> sums, const Sections& sections, const Communicator& ranks,
               const ThreadPool& pool, TreeMemory* memory);

// After AddInTree: the whole sum at rank 0. All ranks call it together.
void GatherSections(const Sections& sections, const Communicator& ranks, Sums* sum,
                    TreeMemory* memory);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_ADD_IN_TREE_H_
