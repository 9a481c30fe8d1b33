#include "bnn/watch.h"

#include <algorithm>
#include <utility>

namespace fathom::bnn {

Watch::Watch(std::function<bool(double)> callback, Journal* journal)
    : callback_(std::move(callback)), journal_(journal) {}

bool Watch::Advance(double work) {
  if (!callback_) return true;
  const std::lock_guard lock(mutex_);
  done_ += work;
  if (!stopped_ && !callback_(std::min(1.0, done_ / planned_))) stopped_ = true;
  return !stopped_;
}

}  // namespace fathom::bnn
