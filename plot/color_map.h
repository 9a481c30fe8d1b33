// The colours of the figures: one ramp for values, and a few hues for curves.
#ifndef FATHOM_PLOT_COLOR_MAP_H_
#define FATHOM_PLOT_COLOR_MAP_H_

#include <cstddef>
#include <string>

namespace fathom {

struct Color {
  double red = 0, green = 0, blue = 0;  // sRGB, in [0, 1]

  std::string Hex() const;  // "#rrggbb"
};

// Goes from dark violet (t = 0) over teal to yellow (t = 1); t beyond [0, 1] counts as the end.
// Lightness is linear in t, so equal steps look equal and a grey print keeps the order.
Color RampColor(double t);

// The k-th of a cycle of hues that differ in lightness too.
Color CurveColor(std::size_t k);

}  // namespace fathom

#endif  // FATHOM_PLOT_COLOR_MAP_H_
