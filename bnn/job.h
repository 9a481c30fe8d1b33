// One strand of a fit: tells the watch how far it is, and keeps its state in the watch's journal.
//
// What a job works on has a function
//   template <typename Visitor>
//   void Visit(const Visitor& visit) { visit("weights", &weights); ... }
// that names all it must remember. One list serves both directions, so that nothing can be written
// and then not be read.
#ifndef FATHOM_BNN_JOB_H_
#define FATHOM_BNN_JOB_H_

#include <string>
#include <utility>

#include "bnn/chains.h"
#include "bnn/journal.h"
#include "bnn/watch.h"
#include "fathom/base/noise_stream.h"
#include "fathom/optimize/adam.h"

namespace fathom::bnn {

class StateWriter {
 public:
  explicit StateWriter(JobState* state) : state_(*state) {}

  void operator()(const std::string& name, const double* value) const;
  // The most that it may be matters to readers.
  void operator()(const std::string& name, const Index* value, Index most) const;
  void operator()(const std::string& name, const Vector* value) const;
  void operator()(const std::string& name, const AdamState* value) const;
  void operator()(const std::string& name, const NoiseStream* value) const;
  // The first `count` rows of what has room for more.
  void operator()(const std::string& name, const Matrix* value, const Index* count) const;
  void operator()(const std::string& name, const Vector* value, const Index* count) const;
  void operator()(const std::string& name, const Chain* value) const;

 private:
  JobState& state_;
};

// Vectors and matrices must have their sizes before they are read. Throws Error, without the name
// of the file, for what is missing, a wrong size, and a count that is out of its range. Other
// numbers may be anything: a job that goes on from an infinite weight fails as one that reached it.
class StateReader {
 public:
  StateReader(std::string job, const JobState& state) : job_(std::move(job)), state_(state) {}

  void operator()(const std::string& name, double* value) const;
  void operator()(const std::string& name, Index* value, Index most) const;
  void operator()(const std::string& name, Vector* value) const;
  void operator()(const std::string& name, AdamState* value) const;
  void operator()(const std::string& name, NoiseStream* value) const;
  void operator()(const std::string& name, Matrix* value, Index* count) const;
  void operator()(const std::string& name, Vector* value, Index* count) const;
  void operator()(const std::string& name, Chain* value) const;

 private:
  const Matrix& Find(const std::string& name, Index most_rows, Index cols) const;

  std::string job_;
  const JobState& state_;
};

class Job {
 public:
  Job(std::string name, Watch* watch) : name_(std::move(name)), watch_(*watch) {
    if (Journal* journal = watch_.journal()) journal->Begin(name_);
  }
  ~Job() {
    if (Journal* journal = watch_.journal()) journal->End(name_);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // As Watch has it.
  bool Advance(double work = 1) { return watch_.Advance(work); }
  bool stopped() const { return watch_.stopped(); }

  // Puts *work where an earlier run of this job left it. False, and nothing changes, if there was
  // none.
  template <typename Work>
  bool Restore(Work* work) const {
    const Journal* journal = watch_.journal();
    const JobState* state = journal == nullptr ? nullptr : journal->Find(name_);
    if (state == nullptr) return false;
    work->Visit(StateReader(name_, *state));
    return true;
  }
  // Keeps the state of *work: at the end of the job, and on the way if it is time.
  template <typename Work>
  void Keep(Work* work) {
    Journal* journal = watch_.journal();
    if (journal == nullptr) return;
    JobState state;
    work->Visit(StateWriter(&state));
    journal->Keep(name_, std::move(state));
  }
  template <typename Work>
  void KeepIfDue(Work* work) {
    Journal* journal = watch_.journal();
    if (journal != nullptr && journal->Due(name_)) Keep(work);
  }
  // A result elsewhere makes the state useless.
  void Forget() {
    if (Journal* journal = watch_.journal()) journal->Forget(name_);
  }

 private:
  std::string name_;
  Watch& watch_;
};

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_JOB_H_
