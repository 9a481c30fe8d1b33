#include "distributed/heartbeat.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <utility>

namespace fathom {

namespace {

// Beats are counted, not seconds: a job that is suspended and goes on has missed none.
constexpr std::chrono::seconds kBeat(1);

int MostSilentBeats() {
  constexpr int kDefault = 20;
  const char* asked = std::getenv("FATHOM_RANK_TIMEOUT");
  const int seconds = asked != nullptr ? std::atoi(asked) : kDefault;
  return seconds > 0 ? seconds : kDefault;
}

}  // namespace

bool MayBeOnSeveralHosts() {
  const char* here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const char* all = std::getenv("OMPI_COMM_WORLD_SIZE");
  return here == nullptr || all == nullptr || std::atoi(here) < std::atoi(all);
}

Heartbeat::Heartbeat(std::vector<std::string> names, int exit_code)
    : names_(std::move(names)), exit_code_(exit_code), most_silent_(MostSilentBeats()) {
  int rank = 0;
  int size = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_);  // so that beats and messages cannot meet
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &size);
  if (rank != 0) {
    peers_.push_back({.rank = 0});
  } else {
    for (int r = 1; r < size; ++r) peers_.push_back({.rank = r});
  }
  // Signals are for the thread that computes.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stop_.notify_one();
  thread_.join();
  for (Peer& peer : peers_) {
    if (peer.receiving == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&peer.receiving);
    MPI_Request_free(&peer.receiving);
  }
}

void Heartbeat::Run() {
  const bool launcher_notices = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kBeat, [this] { return stopped_; })) {
    for (Peer& peer : peers_) {
      Beat(&peer);
      if (peer.lost || peer.silent <= most_silent_) continue;
      peer.lost = true;
      if (peer.rank != 0) Say(peer);
      if (peer.rank == 0 || !launcher_notices) ::_exit(exit_code_);
    }
  }
}

void Heartbeat::Beat(Peer* peer) {
  int done = 0;
  // The last beat may still be on its way; then it says as much as another.
  MPI_Test(&peer->sending, &done, MPI_STATUS_IGNORE);
  if (done != 0) MPI_Isend(&peer->sent, 1, MPI_CHAR, peer->rank, 0, comm_, &peer->sending);
  ++peer->silent;
  for (;;) {
    if (peer->receiving == MPI_REQUEST_NULL)
      MPI_Irecv(&peer->received, 1, MPI_CHAR, peer->rank, 0, comm_, &peer->receiving);
    MPI_Test(&peer->receiving, &done, MPI_STATUS_IGNORE);
    if (done == 0) return;
    peer->silent = 0;
  }
}

void Heartbeat::Say(const Peer& peer) const {
  const std::string line =
      "fathom: " + names_[static_cast<std::size_t>(peer.rank)] + ": has not been heard of for " +
      std::to_string(most_silent_) +
      " s; its host is down or cut off, all ranks end, and 'fathom resume' goes on from the last "
      "checkpoint\n";
  static_cast<void>(::write(STDERR_FILENO, line.data(), line.size()) < 0);
}

}  // namespace fathom
