// Values of options as people write them, and numbers as they read them.
#ifndef FATHOM_BASE_OPTION_TEXT_H_
#define FATHOM_BASE_OPTION_TEXT_H_

#include <string>
#include <vector>

namespace fathom {

// "a,b" as {"a", "b"}; every item of `lists` is such a list.
std::vector<std::string> SplitLists(const std::vector<std::string>& lists);

// "90", "90s", "5m" or "1h", in seconds. Throws Error, which begins with `name`.
double ParseDuration(const std::string& name, const std::string& text);

// "500MB" or "2GB", in bytes: kB, MB, GB and TB are powers of 1000. Throws Error, which begins with
// `name`.
double ParseBytes(const std::string& name, const std::string& text);

// Six digits, no trailing zeros.
std::string Short(double value);

}  // namespace fathom

#endif  // FATHOM_BASE_OPTION_TEXT_H_
