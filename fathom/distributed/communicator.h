// The processes that compute together: this one alone, or several, which are called ranks. Rank 0
// leads: it runs the program, reads and writes. The others help it with sums over rows. Callers do
// not ask which of the two they have: alone, all of this is free.
#ifndef FATHOM_DISTRIBUTED_COMMUNICATOR_H_
#define FATHOM_DISTRIBUTED_COMMUNICATOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/types.h"

namespace fathom {

// Numbers for each rank, or from each: first those of rank 0, then those of rank 1, and so on.
struct Parcels {
  std::vector<double> values;
  std::vector<Index> counts;  // [ranks]

  void Clear(int ranks) {
    values.clear();
    Await(ranks);
  }
  // Clear for what will be received: values that are overwritten need not be made again.
  void Await(int ranks) { counts.assign(static_cast<std::size_t>(ranks), 0); }
};

// Every function that is not about this rank alone must be called by all ranks, in the same order.
class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // What a message calls this rank: "rank 1 on node7".
  virtual std::string Name() const = 0;

  // Rank 0's bytes to all.
  virtual void Broadcast(std::span<std::byte> bytes) const = 0;
  // Each part of `out` to its rank. `in->counts` says how much comes from each; its values are
  // filled.
  virtual void Exchange(const Parcels& out, Parcels* in) const = 0;
  // The largest of all ranks' values, at all ranks.
  virtual int Largest(int value) const = 0;
  // The strings of all ranks at rank 0; nothing elsewhere.
  virtual std::vector<std::string> Gather(const std::string& text) const = 0;

  // This rank gives up in the middle of something and takes part no more: whoever made the
  // communicator must end all ranks. Alone, there is nobody to leave.
  void Leave() const { left_ = size() > 1; }
  bool left() const { return left_; }

  void Broadcast(std::string* text) const;  // of any length
  template <typename Number>
  void Broadcast(std::span<Number> numbers) const {
    Broadcast(std::as_writable_bytes(numbers));
  }

 private:
  mutable bool left_ = false;
};

// This process, for itself.
const Communicator& Alone();

// Throws as DoTogether does if one rank has a failure to tell.
void RequireSuccess(const Communicator& ranks, const std::string& failure);

// Does `work` on one rank after the other. Each begins with the number that the one before has left
// behind, and all have the last one's in the end.
template <typename Work>
void InTurn(const Communicator& ranks, std::uint64_t* number, const Work& work) {
  for (int r = 0; r < ranks.size(); ++r) {
    if (ranks.rank() == r) work();
    const std::vector<std::string> all = ranks.Gather(std::to_string(*number));
    if (ranks.rank() == 0) *number = std::stoull(all[static_cast<std::size_t>(r)]);
    ranks.Broadcast(std::span(number, 1));
  }
}

// Does `work` that nobody else knows to have failed.
template <typename Work>
void DoOwnPart(const Communicator& ranks, const Work& work) {
  try {
    work();
  } catch (...) {
    ranks.Leave();
    throw;
  }
}

// Does `work` on every rank. If it fails numerically on one, it has failed on all: throws
// NumericalError everywhere, with the reason of the lowest rank at rank 0.
template <typename Work>
void DoTogether(const Communicator& ranks, const Work& work) {
  std::string failure;
  try {
    work();
  } catch (const NumericalError& error) {
    failure = error.what();
    if (failure.empty()) failure = "a numerical failure";
  } catch (...) {
    ranks.Leave();
    throw;
  }
  RequireSuccess(ranks, failure);
}

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTED_COMMUNICATOR_H_
