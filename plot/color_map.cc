#include "plot/color_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace fathom {
namespace {

// Lightness, chroma and hue (in degrees) of Oklab, Ottosson's perceptual colour space of 2020.
struct Oklch {
  double lightness, chroma, hue;
};

double Gamma(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  return x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
}

Color ToSrgb(const Oklch& color) {
  const double angle = color.hue * std::numbers::pi / 180;
  const double a = color.chroma * std::cos(angle);
  const double b = color.chroma * std::sin(angle);
  const double l = std::pow(color.lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(color.lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(color.lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {Gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          Gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          Gamma(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

// Evenly spaced along the ramp; each chroma is within what a screen can show at that lightness and
// hue.
constexpr std::array<Oklch, 5> kRamp{{{0.28, 0.120, 303},
                                      {0.44, 0.110, 262},
                                      {0.60, 0.098, 205},
                                      {0.76, 0.140, 153},
                                      {0.92, 0.180, 106}}};

constexpr std::array<Oklch, 4> kCurves{
    {{0.52, 0.13, 252}, {0.66, 0.16, 48}, {0.58, 0.13, 150}, {0.45, 0.15, 330}}};

}  // namespace

std::string Color::Hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (const double channel : {red, green, blue}) {
    const auto byte = static_cast<unsigned>(std::lround(255 * std::clamp(channel, 0.0, 1.0)));
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
  }
  return text;
}

Color RampColor(double t) {
  const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(kRamp.size() - 1);
  const std::size_t k = std::min(static_cast<std::size_t>(place), kRamp.size() - 2);
  const double w = place - static_cast<double>(k);
  const Oklch& low = kRamp[k];
  const Oklch& high = kRamp[k + 1];
  return ToSrgb({std::lerp(low.lightness, high.lightness, w), std::lerp(low.chroma, high.chroma, w),
                 std::lerp(low.hue, high.hue, w)});
}

Color CurveColor(std::size_t k) { return ToSrgb(kCurves[k % kCurves.size()]); }

}  // namespace fathom
