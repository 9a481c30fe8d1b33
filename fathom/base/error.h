// How Fathom fails: three kinds, one place that writes the messages.
//   Error          the caller's input is at fault; the message names place, thing, value and cure
//   NumericalError the numbers gave out in spite of sound input
//   InternalError  a bug of ours, found by FATHOM_CHECK (on in release builds too)
// The library throws; it never prints, exits or aborts.
#ifndef FATHOM_BASE_ERROR_H_
#define FATHOM_BASE_ERROR_H_

#include <sstream>
#include <stdexcept>
#include <string>

#include "fathom/base/export.h"

namespace fathom FATHOM_PUBLIC {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class NumericalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Throws Error with the concatenation of `parts` as its text.
template <typename... Parts>
[[noreturn]] void ThrowError(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(text.str());
}

// Throws Error("<name> must be <requirement>, not <value>") unless `holds`.
template <typename Value>
void Require(bool holds, const char* name, const char* requirement, const Value& value) {
  if (!holds) ThrowError(name, " must be ", requirement, ", not ", value);
}

namespace internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace internal

}  // namespace fathom

#define FATHOM_CHECK(condition)       \
  ((condition) ? static_cast<void>(0) \
               : ::fathom::internal::CheckFailed(__FILE__, __LINE__, #condition))

#endif  // FATHOM_BASE_ERROR_H_
