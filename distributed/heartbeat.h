// A host that is cut off does not say so: sends to it end nowhere, and MPI waits for minutes or for
// ever. So ranks on several hosts let rank 0 hear from them every second, and hear from it.
#ifndef FATHOM_DISTRIBUTED_HEARTBEAT_H_
#define FATHOM_DISTRIBUTED_HEARTBEAT_H_

#include <mpi.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace fathom {

// Whether a launcher may have put the ranks on more than one host. MPI must then be begun with
// MPI_THREAD_MULTIPLE.
bool MayBeOnSeveralHosts();

class Heartbeat {
 public:
  // All ranks call it together; `names` counts at rank 0. A rank that has not heard from another
  // for a while ends its process with `exit_code`; rank 0 first says in one line on standard error
  // who is lost. But under Open MPI's mpirun, rank 0 then waits to be ended: mpirun finds out by
  // itself, in the time that its keepalives take, but for a quarter of an hour cannot if it first
  // has the end of a rank to tell to the host that is lost.
  Heartbeat(std::vector<std::string> names, int exit_code);
  ~Heartbeat();  // before MPI ends
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  // Another rank: rank 0 listens to all, all listen to rank 0.
  struct Peer {
    int rank = 0;
    char sent = 0, received = 0;
    MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
    int silent = 0;     // beats of ours since its last one
    bool lost = false;  // which was said
  };

  void Run();
  void Beat(Peer* peer);
  void Say(const Peer& peer) const;

  std::vector<std::string> names_;  // [rank]
  int exit_code_;
  int most_silent_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<Peer> peers_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTED_HEARTBEAT_H_
