// Include this to add a kernel of your own. Derive from StationaryArd if it depends on the distance
// between scaled inputs, otherwise from Kernel; then register it.
#ifndef FATHOM_KERNEL_H_
#define FATHOM_KERNEL_H_

#include "fathom/kernel/kernel.h"
#include "fathom/kernel/stationary_ard.h"

#endif  // FATHOM_KERNEL_H_
