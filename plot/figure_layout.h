// Where everything in a figure stands. Widths of strings are estimated, generously, since the fonts
// of the reader's machine are unknown.
#ifndef FATHOM_PLOT_FIGURE_LAYOUT_H_
#define FATHOM_PLOT_FIGURE_LAYOUT_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plot/figure.h"
#include "plot/ticks.h"

namespace fathom {

inline constexpr double kTickSize = 10.5;  // font sizes and distances in pixels
inline constexpr double kLabelSize = 12;
inline constexpr double kTitleSize = 13;
inline constexpr double kFigureTitleSize = 16;
inline constexpr double kTickLength = 4;
inline constexpr double kLegendLine = 17;
inline constexpr double kSwatch = 20;
inline constexpr double kBarGap = 10;
inline constexpr double kBarWidth = 12;

double TextWidth(std::string_view text, double font_size);
double WidestLabel(const std::vector<Tick>& ticks);
// The font size at which `text` fits into `width`: `font_size` or less, but not below 7.
double FittingSize(std::string_view text, double font_size, double width);

struct LegendEntry {
  std::size_t layer;  // index within the panel
  double x, y;        // of the swatch's left end and the line's middle, from the plot's corner
};

struct PanelLayout {
  double left, top;  // of the plot within its axes
  AxisRange x, y;
  std::vector<Tick> x_ticks, y_ticks;
  bool has_colors = false;
  AxisRange colors;
  std::vector<Tick> color_ticks;
  std::vector<LegendEntry> legend;
  double legend_height = 0;
  double title_rise = 0;  // of the title's baseline above the plot; the same in all panels of a row
};

struct FigureLayout {
  double width, height;
  std::map<std::pair<Index, Index>, PanelLayout> panels;
};

FigureLayout LayOut(const FigureOptions& options, const Figure::Panels& panels);

// The label of a layer in the legend; empty if it has none.
const std::string& LegendLabel(const Figure::Layer& layer);

}  // namespace fathom

#endif  // FATHOM_PLOT_FIGURE_LAYOUT_H_
