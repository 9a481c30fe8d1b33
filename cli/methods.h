// The methods that studies may name.
#ifndef FATHOM_CLI_METHODS_H_
#define FATHOM_CLI_METHODS_H_

#include <vector>

#include "study/methods.h"

namespace fathom::cli {

// The first is meant where a study names none. The options of a deep GP are those of 'fathom fit',
// those of a neural network those of 'fathom baseline'.
std::vector<MethodKind> MethodKinds();

}  // namespace fathom::cli

#endif  // FATHOM_CLI_METHODS_H_
