#include "fathom/likelihood/labels.h"

#include <cmath>

namespace fathom {

std::string LabelRule(Index outputs, double y) {
  if (y >= 0 && y < static_cast<double>(outputs) && y == std::floor(y)) return {};
  return "a whole number in 0.." + std::to_string(outputs - 1);
}

std::string CountRule(double y) {
  return y >= 0 && y == std::floor(y) ? "" : "a count, a whole number from 0 on,";
}

}  // namespace fathom
