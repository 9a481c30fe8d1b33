#include "fathom/base/memory.h"

#include <array>
#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>

namespace fathom {

double AvailableMemory() {
  std::ifstream info("/proc/meminfo");
  std::string name;
  std::string unit;
  double kilobytes = 0;
  while (info >> name >> kilobytes) {
    std::getline(info, unit);
    if (name == "MemAvailable:") return 1024 * kilobytes;
  }
  return std::numeric_limits<double>::infinity();
}

std::string MemoryText(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"bytes", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  std::ostringstream text;
  text << std::setprecision(3) << bytes << " " << kUnits.at(unit);
  return text.str();
}

}  // namespace fathom
