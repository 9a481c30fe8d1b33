// The ranks of a build without MPI.
#include <cstdlib>

#include "distributed/mpi.h"
#include "fathom/base/error.h"

namespace fathom {

Ranks::Ranks(int /*exit_code_if_lost*/) {
  if (StartedAsOneOfSeveral())
    ThrowError("this build of fathom has no MPI, so several processes cannot work together; ",
               "install an MPI and build again, or start one process");
}

Ranks::~Ranks() = default;

const Communicator& Ranks::all() const { return Alone(); }

void Ranks::Abort(int exit_code) const { std::_Exit(exit_code); }

}  // namespace fathom
