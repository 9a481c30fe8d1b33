#include "fathom/recipe/field.h"

#include <cmath>
#include <sstream>

namespace fathom {

namespace {

// "10", "1e15".
std::string Short(double value) {
  std::ostringstream text;
  text << value;
  std::string digits = text.str();
  std::erase(digits, '+');
  return digits;
}

}  // namespace

bool Range::Contains(double value) const {
  return std::isfinite(value) && (above_low ? value > low : value >= low) && value <= high;
}

bool Range::Bounded() const { return std::isfinite(low) || std::isfinite(high); }

std::string Range::Describe() const {
  const bool bounded = std::isfinite(high);
  if (!std::isfinite(low)) return bounded ? "at most " + Short(high) : "finite";
  if (!above_low && bounded) return "from " + Short(low) + " to " + Short(high);
  if (!above_low) return "at least " + Short(low);
  const std::string above = low == 0 ? "positive" : "above " + Short(low);
  return above + (bounded ? " and at most " + Short(high) : " and finite");
}

std::string KindOf(const Field& field) {
  struct {
    std::string operator()(const bool*) const { return "flag"; }
    std::string operator()(const int*) const { return "whole number"; }
    std::string operator()(const Index*) const { return "whole number"; }
    std::string operator()(const std::uint64_t*) const { return "whole number"; }
    std::string operator()(const double*) const { return "number"; }
    std::string operator()(const std::string*) const { return "string"; }
    std::string operator()(const std::vector<Index>*) const { return "list of whole numbers"; }
    std::string operator()(const Choice&) const { return "choice"; }
  } kind;
  return std::visit(kind, field.value);
}

}  // namespace fathom
