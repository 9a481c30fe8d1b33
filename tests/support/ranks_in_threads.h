// Ranks that are threads of one process: what MPI does, without MPI, for tests.
#ifndef FATHOM_TESTS_SUPPORT_RANKS_IN_THREADS_H_
#define FATHOM_TESTS_SUPPORT_RANKS_IN_THREADS_H_

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "fathom/distributed/communicator.h"

namespace fathom {

class RanksInThreads {
 public:
  explicit RanksInThreads(int size)
      : board_(static_cast<std::size_t>(size)), barrier_(size), size_(size) {}

  // Runs work(communicator) once per rank, each on a thread of its own.
  void Run(const std::function<void(const Communicator&)>& work) {
    std::vector<std::thread> threads;
    for (int r = 1; r < size_; ++r) threads.emplace_back([&, r] { work(Rank(this, r)); });
    work(Rank(this, 0));
    for (std::thread& thread : threads) thread.join();
  }

 private:
  // What a rank shows to the others between two barriers.
  struct Shown {
    std::span<std::byte> bytes;
    const Parcels* out = nullptr;
    int value = 0;
    std::string text;
  };

  class Rank : public Communicator {
   public:
    Rank(RanksInThreads* all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return all_->size_; }
    std::string Name() const override { return "rank " + std::to_string(rank_) + " in a thread"; }

    void Broadcast(std::span<std::byte> bytes) const override {
      Show([&](Shown* shown) { shown->bytes = bytes; },
           [&] {
             const auto from = all_->board_[0].bytes;
             if (from.size() != bytes.size()) std::abort();
             if (rank_ != 0) std::copy(from.begin(), from.end(), bytes.begin());
           });
    }
    void Exchange(const Parcels& out, Parcels* in) const override {
      Show([&](Shown* shown) { shown->out = &out; },
           [&] {
             in->values.clear();
             for (int r = 0; r < size(); ++r) {
               const Parcels& from = *all_->board_[r].out;
               const auto begin =
                   std::accumulate(from.counts.begin(), from.counts.begin() + rank_, Index{0});
               if (from.counts[rank_] != in->counts[r]) std::abort();
               in->values.insert(in->values.end(), from.values.begin() + begin,
                                 from.values.begin() + begin + from.counts[rank_]);
             }
           });
    }
    int Largest(int value) const override {
      int largest = value;
      Show([&](Shown* shown) { shown->value = value; },
           [&] {
             for (const Shown& shown : all_->board_) largest = std::max(largest, shown.value);
           });
      return largest;
    }
    std::vector<std::string> Gather(const std::string& text) const override {
      std::vector<std::string> texts;
      Show([&](Shown* shown) { shown->text = text; },
           [&] {
             if (rank_ != 0) return;
             for (const Shown& shown : all_->board_) texts.push_back(shown.text);
           });
      return texts;
    }

   private:
    template <typename Put, typename Look>
    void Show(const Put& put, const Look& look) const {
      put(&all_->board_[rank_]);
      all_->barrier_.arrive_and_wait();
      look();
      all_->barrier_.arrive_and_wait();
    }
    RanksInThreads* all_;
    int rank_;
  };

  std::vector<Shown> board_;
  std::barrier<> barrier_;
  int size_;
};

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_RANKS_IN_THREADS_H_
