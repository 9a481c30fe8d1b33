// The number that stands for a missing cell.
#ifndef FATHOM_TESTS_SUPPORT_NAN_H_
#define FATHOM_TESTS_SUPPORT_NAN_H_

#include <limits>

namespace fathom {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_NAN_H_
