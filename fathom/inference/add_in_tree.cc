#include "fathom/inference/add_in_tree.h"

#include <algorithm>
#include <vector>

#include "fathom/base/error.h"

namespace fathom {

namespace {

void Add(const double* from, Index count, double* to) {
  Eigen::Map<Vector>(to, count) += Eigen::Map<const Vector>(from, count);
}

// Calls add(to, from, range) for each addition of the tree, in its order: the sum at slot `from`
// goes to slot `to`, which then holds the sum of the range.
template <typename Addition>
void ForEachAddition(Index slots, const Addition& add) {
  for (Index apart = 1; apart < slots; apart *= 2) {
    for (Index to = 0; to + apart < slots; to += 2 * apart)
      add(to, to + apart, SlotRange{to, std::min(to + 2 * apart, slots)});
  }
}

// The part of the tree within one rank, on all threads.
void AddOwnSlots(std::span<Sums> sums, SlotRange mine, const ThreadPool& pool) {
  constexpr Index kBlock = 1 << 14;  // numbers: 128 kB, so that a block stays in the second cache
  const Index size = sums[mine.begin].layout.size;
  pool.Run((size + kBlock - 1) / kBlock, [&](Index block) {
    const Index begin = block * kBlock;
    const Index count = std::min(kBlock, size - begin);
    ForEachAddition(static_cast<Index>(sums.size()), [&](Index to, Index from, SlotRange range) {
      if (!mine.Holds(range)) return;
      Add(sums[from].values().data() + begin, count, sums[to].values().data() + begin);
    });
  });
}

// The slots of a rank whose sums are left when it has added its own.
std::vector<Index> SlotsLeft(Index slots, SlotRange of_rank) {
  std::vector<bool> added(static_cast<std::size_t>(slots), false);
  ForEachAddition(slots, [&](Index /*to*/, Index from, SlotRange range) {
    if (of_rank.Holds(range)) added[from] = true;
  });
  std::vector<Index> left;
  for (Index slot = of_rank.begin; slot < of_rank.end; ++slot) {
    if (!added[slot]) left.push_back(slot);
  }
  return left;
}

// Sends each other rank its section of what is left here; receives this rank's section from them.
void DealSections(std::span<const Sums> sums, const Sections& sections, const Communicator& ranks,
                  TreeMemory* memory) {
  const auto slots = static_cast<Index>(sums.size());
  memory->out.Clear(ranks.size());
  memory->in.Await(ranks.size());
  const auto mine = SlotsLeft(slots, SlotsOfRank(slots, ranks.rank(), ranks.size()));
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    for (const Index slot : mine) {
      const auto section = sums[slot].values().subspan(sections.begin(r), sections.count(r));
      memory->out.values.insert(memory->out.values.end(), section.begin(), section.end());
    }
    memory->out.counts[r] = static_cast<Index>(mine.size()) * sections.count(r);
    const auto left = SlotsLeft(slots, SlotsOfRank(slots, r, ranks.size()));
    memory->in.counts[r] = static_cast<Index>(left.size()) * sections.count(ranks.rank());
  }
  ranks.Exchange(memory->out, &memory->in);
}

// The rest of the tree on this rank's section, which is here for its own slots and was received for
// those of others. The sum goes to sums[0].
void AddSection(std::span<Sums> sums, const Sections& sections, const Communicator& ranks,
                TreeMemory* memory) {
  const auto slots = static_cast<Index>(sums.size());
  const Index begin = sections.begin(ranks.rank());
  const Index count = sections.count(ranks.rank());
  std::vector<double*> places(static_cast<std::size_t>(slots), nullptr);
  double* next = memory->in.values.data();
  std::vector<SlotRange> own;
  for (int r = 0; r < ranks.size(); ++r) {
    own.push_back(SlotsOfRank(slots, r, ranks.size()));
    for (const Index slot : SlotsLeft(slots, own.back())) {
      const bool here = r == ranks.rank();
      places[slot] = here ? sums[slot].values().data() + begin : next;
      if (!here) next += count;
    }
  }
  ForEachAddition(slots, [&](Index to, Index from, SlotRange range) {
    const bool done = std::any_of(own.begin(), own.end(),
                                  [&](SlotRange of_rank) { return of_rank.Holds(range); });
    if (!done) Add(places[from], count, places[to]);
  });
  if (ranks.rank() != 0) std::copy_n(places[0], count, sums[0].values().data() + begin);
}

}  // namespace

SlotRange SlotsOfRank(Index slots, int rank, int ranks) {
  const auto begin = [&](int r) { return (slots * r + ranks - 1) / ranks; };
  return {begin(rank), begin(rank + 1)};
}

int RankOfSlot(Index slot, Index slots, int ranks) {
  return static_cast<int>(slot * ranks / slots);
}

Sections EqualSections(Index size, int ranks) {
  Sections sections;
  for (int r = 0; r <= ranks; ++r) sections.begins.push_back(size * r / ranks);
  return sections;
}

void AddInTree(std::span<Sums> sums, const Sections& sections, const Communicator& ranks,
               const ThreadPool& pool, TreeMemory* memory) {
  const auto slots = static_cast<Index>(sums.size());
  const SlotRange mine = SlotsOfRank(slots, ranks.rank(), ranks.size());
  if (mine.begin < mine.end) AddOwnSlots(sums, mine, pool);
  if (ranks.size() == 1) return;
  DealSections(sums, sections, ranks, memory);
  AddSection(sums, sections, ranks, memory);
}

void GatherSections(const Sections& sections, const Communicator& ranks, Sums* sum,
                    TreeMemory* memory) {
  if (ranks.size() == 1) return;
  memory->out.Clear(ranks.size());
  memory->in.Await(ranks.size());
  if (ranks.rank() == 0) {
    for (int r = 1; r < ranks.size(); ++r) memory->in.counts[r] = sections.count(r);
  } else {
    const auto section =
        sum->values().subspan(sections.begin(ranks.rank()), sections.count(ranks.rank()));
    memory->out.values.assign(section.begin(), section.end());
    memory->out.counts[0] = sections.count(ranks.rank());
  }
  ranks.Exchange(memory->out, &memory->in);
  if (ranks.rank() != 0) return;
  std::copy(memory->in.values.begin(), memory->in.values.end(),
            sum->values().begin() + sections.begin(1));
}

}  // namespace fathom
