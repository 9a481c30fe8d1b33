// The methods that studies may name.
#ifndef FATHOM_CLI_METHODS_H_
#define FATHOM_CLI_METHODS_H_

#include <vector>

#include "study/methods.h"

namespace fathom::cli {

// A study that names no kind means the first. A deep GP takes the options of 'fathom fit', a neural
// network those of 'fathom baseline'.
std::vector<MethodKind> MethodKinds();

}  // namespace fathom::cli

#endif  // FATHOM_CLI_METHODS_H_
