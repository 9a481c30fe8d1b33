#include "fathom/base/error.h"

namespace fathom::internal {

void CheckFailed(const char* file, int line, const char* condition) {
  std::ostringstream text;
  text << "internal error at " << file << ":" << line << ": " << condition
       << " does not hold; please report this with the command that led here";
  throw InternalError(text.str());
}

}  // namespace fathom::internal
