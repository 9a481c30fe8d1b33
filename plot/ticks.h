// Where the marks of an axis stand and what is written beside them.
#ifndef FATHOM_PLOT_TICKS_H_
#define FATHOM_PLOT_TICKS_H_

#include <string>
#include <vector>

namespace fathom {

struct AxisRange {
  double low = 0;
  double high = 1;

  double Span() const { return high - low; }
};

struct Tick {
  double at;
  std::string label;  // UTF-8, with a true minus sign and superscripts
};

// Marks at multiples of 1, 2 or 5 times a power of ten within `range`: the finest such spacing with
// at most `most` marks, most >= 2. A range may be so placed that only one multiple falls within.
std::vector<Tick> NiceTicks(const AxisRange& range, int most);

// `value` with at most `decimals` digits after the point, without trailing zeros, whatever the
// locale.
std::string ShortNumber(double value, int decimals);

}  // namespace fathom

#endif  // FATHOM_PLOT_TICKS_H_
