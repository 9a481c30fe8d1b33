// How much memory a large allocation may count on.
#ifndef FATHOM_BASE_MEMORY_H_
#define FATHOM_BASE_MEMORY_H_

#include <string>

namespace fathom {

// Bytes that can be had without swapping, as the system estimates them; infinity where it does not
// say. A control group's limit is not looked at.
double AvailableMemory();

// "1.5 GB", in powers of 1000.
std::string MemoryText(double bytes);

}  // namespace fathom

#endif  // FATHOM_BASE_MEMORY_H_
