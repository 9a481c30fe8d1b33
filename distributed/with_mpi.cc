// The ranks of a build with MPI. Every operation is one of MPI-3's that do not block, so that
// waiting can be done without burning a core: a rank that helps may wait for minutes while the
// first one reads a table.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <thread>

#include "distributed/heartbeat.h"
#include "distributed/mpi.h"
#include "fathom/base/error.h"

namespace fathom {

namespace {

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(int exit_code_if_lost) {
    const int wanted = MayBeOnSeveralHosts() ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    int provided = 0;
    Check(MPI_Init_thread(nullptr, nullptr, wanted, &provided));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    char host[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(host, &length);
    host_.assign(host, static_cast<std::size_t>(length));
    if (provided != MPI_THREAD_MULTIPLE) return;
    heartbeat_.emplace(Gather(Name()), exit_code_if_lost);
  }

  ~MpiCommunicator() override {
    heartbeat_.reset();
    if (!left()) MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string Name() const override { return "rank " + std::to_string(rank_) + " on " + host_; }

  void Broadcast(std::span<std::byte> bytes) const override {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // MPI counts by int
    for (std::size_t begin = 0; begin < bytes.size(); begin += kMost) {
      const auto part = bytes.subspan(begin, std::min(kMost, bytes.size() - begin));
      MPI_Request request = MPI_REQUEST_NULL;
      Check(MPI_Ibcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, MPI_COMM_WORLD,
                       &request));
      Wait(&request);
    }
  }

  void Exchange(const Parcels& out, Parcels* in) const override {
    const Places from(out.counts);
    const Places to(in->counts);
    FATHOM_CHECK(from.total == static_cast<Index>(out.values.size()));
    in->values.resize(static_cast<std::size_t>(to.total));
    MPI_Request request = MPI_REQUEST_NULL;
    Check(MPI_Ialltoallv(out.values.data(), from.counts.data(), from.begins.data(), MPI_DOUBLE,
                         in->values.data(), to.counts.data(), to.begins.data(), MPI_DOUBLE,
                         MPI_COMM_WORLD, &request));
    Wait(&request);
  }

  int Largest(int value) const override {
    int largest = value;
    MPI_Request request = MPI_REQUEST_NULL;
    Check(MPI_Iallreduce(&value, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request));
    Wait(&request);
    return largest;
  }

  std::vector<std::string> Gather(const std::string& text) const override {
    const int size = static_cast<int>(text.size());
    std::vector<int> sizes(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
    MPI_Request request = MPI_REQUEST_NULL;
    Check(MPI_Igather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD, &request));
    Wait(&request);
    std::vector<int> begins(sizes.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
    std::string all(sizes.empty() ? 0 : static_cast<std::size_t>(begins.back() + sizes.back()), 0);
    Check(MPI_Igatherv(text.data(), size, MPI_CHAR, all.data(), sizes.data(), begins.data(),
                       MPI_CHAR, 0, MPI_COMM_WORLD, &request));
    Wait(&request);
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < sizes.size(); ++r)
      texts.push_back(
          all.substr(static_cast<std::size_t>(begins[r]), static_cast<std::size_t>(sizes[r])));
    return texts;
  }

 private:
  // Counts as MPI wants them.
  struct Places {
    explicit Places(const std::vector<Index>& parts) {
      for (const Index count : parts) {
        FATHOM_CHECK(total + count <= INT_MAX);
        counts.push_back(static_cast<int>(count));
        begins.push_back(static_cast<int>(total));
        total += count;
      }
    }
    std::vector<int> counts, begins;
    Index total = 0;
  };

  void Check(int code) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    Leave();
    ThrowError(Name(), " cannot reach the others: ", std::string(text, length));
  }

  // Answers come within microseconds while all ranks work on one step, so the first tries follow
  // each other closely; later ones leave the core to others.
  void Wait(MPI_Request* request) const {
    constexpr int kEager = 2000;
    for (int tries = 0;; ++tries) {
      int done = 0;
      Check(MPI_Test(request, &done, MPI_STATUS_IGNORE));
      if (done != 0) return;
      if (tries < kEager) {
        ::sched_yield();
      } else {
        const int micros = std::min(20 + (tries - kEager) / 10, 1000);
        std::this_thread::sleep_for(std::chrono::microseconds(micros));
      }
    }
  }

  int rank_ = 0;
  int size_ = 1;
  std::string host_;
  std::optional<Heartbeat> heartbeat_;
};

}  // namespace

Ranks::Ranks(int exit_code_if_lost) {
  if (StartedAsOneOfSeveral()) several_ = std::make_unique<MpiCommunicator>(exit_code_if_lost);
}

Ranks::~Ranks() = default;

const Communicator& Ranks::all() const { return several_ ? *several_ : Alone(); }

void Ranks::Abort(int exit_code) const {
  if (several_) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace fathom
