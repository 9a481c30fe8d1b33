#include "plot/color_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace fathom {
namespace {

double Linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

// L* of CIELAB, in 0..100: an independent measure of how light a colour looks.
double Lightness(const Color& color) {
  const double luminance =
      0.2126 * Linear(color.red) + 0.7152 * Linear(color.green) + 0.0722 * Linear(color.blue);
  return luminance > 0.008856 ? 116 * std::cbrt(luminance) - 16 : 903.3 * luminance;
}

TEST(RampColor, LightnessGrowsEvenly) {
  const double dark = Lightness(RampColor(0));
  const double light = Lightness(RampColor(1));
  EXPECT_LT(dark, 25);
  EXPECT_GT(light, 85);
  double previous = dark;
  for (int k = 1; k <= 64; ++k) {
    const double now = Lightness(RampColor(k / 64.0));
    EXPECT_GT(now, previous) << k;
    EXPECT_NEAR(now, dark + (light - dark) * k / 64, 5) << k;
    previous = now;
  }
}

TEST(RampColor, NoChannelIsCutOff) {
  for (int k = 0; k <= 256; ++k) {
    const Color color = RampColor(k / 256.0);
    for (const double channel : {color.red, color.green, color.blue}) {
      EXPECT_GT(channel, 0) << k;
      EXPECT_LT(channel, 1) << k;
    }
  }
}

TEST(RampColor, BeyondTheEndsIsTheEnd) {
  EXPECT_EQ(RampColor(-3).Hex(), RampColor(0).Hex());
  EXPECT_EQ(RampColor(7).Hex(), RampColor(1).Hex());
}

TEST(Color, HexRoundsEachChannel) {
  EXPECT_EQ((Color{0, 0.5, 1}).Hex(), "#0080ff");
  EXPECT_EQ((Color{-1, 2, 10 / 255.0}).Hex(), "#00ff0a");
}

TEST(CurveColor, CyclesThroughDifferentHues) {
  std::set<std::string> seen;
  for (std::size_t k = 0; k < 4; ++k) seen.insert(CurveColor(k).Hex());
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(CurveColor(0).Hex(), CurveColor(4).Hex());
}

}  // namespace
}  // namespace fathom
