// For those who add a kernel of their own: derive from StationaryArd if it is one of the
// distance between scaled inputs, or else from Kernel; then register it.
#ifndef FATHOM_KERNEL_H_
#define FATHOM_KERNEL_H_

#include "fathom/kernel/kernel.h"
#include "fathom/kernel/stationary_ard.h"

#endif  // FATHOM_KERNEL_H_
