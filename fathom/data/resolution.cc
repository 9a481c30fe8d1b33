#include "fathom/data/resolution.h"

#include <algorithm>
#include <vector>

namespace fathom {

double Resolution(const Eigen::Ref<const Vector>& target) {
  constexpr double kShared = 0.1;
  std::vector<double> values(target.begin(), target.end());
  std::sort(values.begin(), values.end());
  std::vector<double> gaps;
  Index shared = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool as_before = i > 0 && values[i] == values[i - 1];
    const bool as_behind = i + 1 < values.size() && values[i] == values[i + 1];
    shared += as_before || as_behind ? 1 : 0;
    if (i > 0 && !as_before) gaps.push_back(values[i] - values[i - 1]);
  }
  if (gaps.empty() || static_cast<double>(shared) < kShared * static_cast<double>(values.size()))
    return 0;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

}  // namespace fathom
