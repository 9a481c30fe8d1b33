#include "cli/ranks.h"

#include <csignal>
#include <memory>

#include "cli/common.h"
#include "cli/methods.h"
#include "distributed/mpi.h"
#include "distributed/supervise.h"
#include "fathom/fit/help.h"
#include "study/run_study.h"

namespace fathom::cli {

namespace {

std::unique_ptr<const Ranks> ranks;

// A scheduler sends its signals to every rank. The first one decides what they mean: it finishes
// its step with the help of the others, which then hear from it that this is the end.
void LeaveSignalsToTheFirst() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
}

int HelpTheFirst(const Communicator& all) {
  LeaveSignalsToTheFirst();
  Help(all, [](const Communicator& ranks_of_study) { HelpUnits(MethodKinds(), ranks_of_study); });
  return kGood;
}

}  // namespace

const Communicator& AllRanks() { return ranks ? ranks->all() : Alone(); }

int RunOnRanks(const std::function<int()>& run,
               const std::function<int(std::string* message)>& explain) {
  Supervise(kNumerical);
  int code = kGood;
  std::string message;
  try {
    ranks = std::make_unique<Ranks>(kNumerical);
    code = AllRanks().rank() == 0 ? run() : HelpTheFirst(AllRanks());
  } catch (...) {
    code = explain(&message);
  }
  const Communicator& all = AllRanks();
  const bool failed_among_others = all.rank() != 0 || all.left();
  if (!message.empty()) Complain((failed_among_others ? all.Name() + ": " : "") + message);
  if (!message.empty() && failed_among_others) ranks->Abort(code);
  if (all.rank() == 0) DismissHelpers(all);
  ranks.reset();
  return code;
}

}  // namespace fathom::cli
