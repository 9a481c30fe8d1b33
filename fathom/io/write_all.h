// Writing to a descriptor.
#ifndef FATHOM_IO_WRITE_ALL_H_
#define FATHOM_IO_WRITE_ALL_H_

#include <string_view>

namespace fathom {

// Writes all of the bytes, over interruptions. False, with errno, if that fails.
bool WriteAll(int descriptor, std::string_view bytes);

}  // namespace fathom

#endif  // FATHOM_IO_WRITE_ALL_H_
