// How far a long fit is, and whether its user wants it to end. Shared by all threads of the fit.
#ifndef FATHOM_BNN_WATCH_H_
#define FATHOM_BNN_WATCH_H_

#include <atomic>
#include <functional>
#include <mutex>

#include "bnn/journal.h"

namespace fathom::bnn {

class Watch {
 public:
  // `callback` may be null. It gets the part of the work that is done, from one thread at a time,
  // and returns false to end the fit. `journal` may be null, too; then jobs remember nothing.
  explicit Watch(std::function<bool(double fraction)> callback = nullptr,
                 Journal* journal = nullptr);

  // Announces all the work there will be, in any unit.
  void Plan(double work) { planned_ = work; }
  // Is called after each small piece of work, far below a second. False: stop here.
  bool Advance(double work = 1);
  bool stopped() const { return stopped_; }
  Journal* journal() const { return journal_; }

 private:
  std::function<bool(double)> callback_;
  Journal* journal_;
  std::mutex mutex_;
  double planned_ = 1, done_ = 0;
  std::atomic<bool> stopped_ = false;
};

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_WATCH_H_
