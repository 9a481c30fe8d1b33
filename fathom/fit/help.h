// What every rank but the first does from beginning to end.
#ifndef FATHOM_FIT_HELP_H_
#define FATHOM_FIT_HELP_H_

#include <functional>

#include "fathom/distributed/communicator.h"

namespace fathom {

// Helps rank 0 with one thing after another, until rank 0 calls DismissHelpers. `help_study` does
// what Order::kStudy asks for, of which the engine knows nothing.
void Help(const Communicator& ranks,
          const std::function<void(const Communicator&)>& help_study = {});
void DismissHelpers(const Communicator& ranks);

}  // namespace fathom

#endif  // FATHOM_FIT_HELP_H_
