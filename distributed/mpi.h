// Ranks that a launcher of MPI (mpirun, srun) has started.
#ifndef FATHOM_DISTRIBUTED_MPI_H_
#define FATHOM_DISTRIBUTED_MPI_H_

#include <memory>
#include <string>

#include "fathom/distributed/communicator.h"

namespace fathom {

// The ranks of this process: those that its launcher has started, or itself alone.
class Ranks {
 public:
  // MPI is begun only under a launcher of several processes: it takes a tenth of a second. Throws
  // Error if there are several and this build cannot join them. A process that no longer hears of
  // the others, because a host was cut off, says so on standard error and ends with this code.
  explicit Ranks(int exit_code_if_lost);
  // Ends MPI, unless the rank has left.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  const Communicator& all() const;
  // Ends this process and all other ranks, at once.
  [[noreturn]] void Abort(int exit_code) const;

 private:
  std::unique_ptr<Communicator> several_;
};

// What the environment says: whether a launcher has started several processes, and which of them
// this is (0 if that is not known).
bool StartedAsOneOfSeveral();
int RankByLauncher();

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTED_MPI_H_
