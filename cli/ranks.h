// The processes that mpirun or srun has started together with this one.
#ifndef FATHOM_CLI_RANKS_H_
#define FATHOM_CLI_RANKS_H_

#include <functional>

#include "fathom/distributed/communicator.h"

namespace fathom::cli {

// Runs the program on the first rank, while the others help it; returns the exit code. A failure of
// any rank ends all of them, with one line that names it. `explain` turns the exception that is
// being handled into a text and returns the exit code.
int RunOnRanks(const std::function<int()>& run,
               const std::function<int(std::string* message)>& explain);

// All ranks, of which this is the first; this process alone if it was started alone.
const Communicator& AllRanks();

}  // namespace fathom::cli

#endif  // FATHOM_CLI_RANKS_H_
