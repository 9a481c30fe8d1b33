#include "plot/ticks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace fathom {
namespace {

std::string Labels(const AxisRange& range, int most) {
  std::string text;
  for (const Tick& tick : NiceTicks(range, most)) text += (text.empty() ? "" : " ") + tick.label;
  return text;
}

TEST(NiceTicks, WritesWhatAPersonWould) {
  EXPECT_EQ(Labels({0, 1}, 6), "0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(Labels({-1.2, 0.5}, 5), "−1.0 −0.5 0 0.5");
  EXPECT_EQ(Labels({-0.07, 0.07}, 4), "−0.05 0 0.05");
  EXPECT_EQ(Labels({-111, -1}, 6), "−100 −80 −60 −40 −20");
  EXPECT_EQ(Labels({0, 2.5e6}, 4), "0 1×10⁶ 2×10⁶");
  EXPECT_EQ(Labels({1e-5, 2e-5}, 3), "1.0×10⁻⁵ 1.5×10⁻⁵ 2.0×10⁻⁵");
}

RC_GTEST_PROP(NiceTicks, LieWithinEvenlyAndAreNeverTooMany, ()) {
  const double scale = std::pow(10.0, *rc::gen::inRange(-12, 12));
  const double low = *rc::gen::inRange(-1000, 1000) * scale;
  const double span = *rc::gen::inRange(1, 1000) * scale;
  const int most = *rc::gen::inRange(2, 12);
  const std::vector<Tick> ticks = NiceTicks({low, low + span}, most);
  RC_ASSERT(!ticks.empty());
  RC_ASSERT(static_cast<int>(ticks.size()) <= most);
  for (std::size_t k = 0; k < ticks.size(); ++k) {
    RC_ASSERT(ticks[k].at >= low - 1e-6 * span);
    RC_ASSERT(ticks[k].at <= low + span + 1e-6 * span);
    if (k > 0) RC_ASSERT(ticks[k].label != ticks[k - 1].label);
  }
}

TEST(ShortNumber, DropsTrailingZerosAndNegativeZero) {
  EXPECT_EQ(ShortNumber(1.50, 2), "1.5");
  EXPECT_EQ(ShortNumber(100, 2), "100");
  EXPECT_EQ(ShortNumber(-0.001, 2), "0");
  EXPECT_EQ(ShortNumber(-2.345, 1), "-2.3");
}

}  // namespace
}  // namespace fathom
