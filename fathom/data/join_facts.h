// Facts about a table whose rows lie with several ranks, each of which has seen its own.
#ifndef FATHOM_DATA_JOIN_FACTS_H_
#define FATHOM_DATA_JOIN_FACTS_H_

#include <cstring>
#include <string>
#include <vector>

#include "fathom/distributed/communicator.h"

namespace fathom {

// Makes *facts, at every rank, those of all rows. Facts can be written as numbers (ToNumbers), be
// joined by the numbers of rows that follow (Join), and forget what they know (Clear).
template <typename Facts>
void JoinFacts(const Communicator& ranks, Facts* facts) {
  const auto to_bytes = [&] {
    const std::vector<double> numbers = facts->ToNumbers();
    return std::string(reinterpret_cast<const char*>(numbers.data()),
                       numbers.size() * sizeof(double));
  };
  const auto join = [&](const std::string& bytes) {
    std::vector<double> numbers(bytes.size() / sizeof(double));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    facts->Join(numbers);
  };
  const std::vector<std::string> all = ranks.Gather(to_bytes());
  for (std::size_t r = 1; r < all.size(); ++r) join(all[r]);
  std::string joined = to_bytes();
  ranks.Broadcast(&joined);
  if (ranks.rank() == 0) return;
  facts->Clear();
  join(joined);
}

}  // namespace fathom

#endif  // FATHOM_DATA_JOIN_FACTS_H_
