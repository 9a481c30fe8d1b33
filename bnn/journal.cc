#include "bnn/journal.h"

#include <algorithm>
#include <utility>

namespace fathom::bnn {

Journal::Journal(JobStates known, double seconds, Writer write)
    : states_(std::move(known)), seconds_(seconds), write_(std::move(write)) {}

const JobState* Journal::Find(const std::string& job) const {
  const std::lock_guard lock(mutex_);
  const auto found = states_.find(job);
  return found == states_.end() ? nullptr : &found->second;
}

void Journal::Begin(const std::string& job) {
  const std::lock_guard lock(mutex_);
  running_.insert(job);
}

void Journal::End(const std::string& job) {
  const std::lock_guard lock(mutex_);
  running_.erase(job);
}

bool Journal::Due(const std::string& job) {
  const std::lock_guard lock(mutex_);
  if (!collecting_ && since_written_.Seconds() >= seconds_) {
    collecting_ = true;
    kept_now_.clear();
  }
  if (!collecting_) return false;
  if (!kept_now_.contains(job)) return true;
  WriteIfComplete();  // the last that was waited for may have ended
  return false;
}

void Journal::Keep(const std::string& job, JobState state) {
  const std::lock_guard lock(mutex_);
  states_[job] = std::move(state);
  kept_now_.insert(job);
  if (collecting_) WriteIfComplete();
}

void Journal::Forget(const std::string& job) {
  const std::lock_guard lock(mutex_);
  states_.erase(job);
}

void Journal::Write() {
  const std::lock_guard lock(mutex_);
  write_(states_);
}

void Journal::WriteIfComplete() {
  if (!std::includes(kept_now_.begin(), kept_now_.end(), running_.begin(), running_.end())) return;
  collecting_ = false;
  write_(states_);
  since_written_ = Stopwatch();
}

}  // namespace fathom::bnn
