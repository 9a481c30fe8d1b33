#include "plot/figure_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace fathom {
namespace {

constexpr double kMargin = 12;     // around the figure
constexpr double kColumnGap = 22;  // between a panel's rightmost text and its neighbour's leftmost
constexpr double kRowGap = 16;

// Grows to hold all that it is shown.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  template <typename Values>
  void Cover(const Values& values) {
    if (values.size() == 0) return;
    low = std::min(low, values.minCoeff());
    high = std::max(high, values.maxCoeff());
  }
  void Cover(const AxisRange& range) {
    low = std::min(low, range.low);
    high = std::max(high, range.high);
  }

  // Nothing at all becomes 0..1, a single value gets room around it.
  AxisRange Range() const {
    if (low > high) return {0, 1};
    const double largest = std::max(std::abs(low), std::abs(high));
    if (high - low > 1e-9 * largest) return {low, high};
    const double room = largest > 0 ? 0.1 * largest : 1;
    return {low - room, high + room};
  }
};

struct Extents {
  Extent x, y, colors;
  bool has_heat_map = false;

  void operator()(const HeatMap& layer) {
    x.Cover(layer.x);
    y.Cover(layer.y);
    colors.Cover(layer.values);
    has_heat_map = true;
  }
  void operator()(const Scatter& layer) {
    x.Cover(layer.x);
    y.Cover(layer.y);
    colors.Cover(layer.value);
  }
  void operator()(const Band& layer) {
    x.Cover(layer.x);
    y.Cover(layer.mean);
    y.Cover(layer.low);
    y.Cover(layer.high);
  }
  void operator()(const Curve& layer) {
    x.Cover(layer.x);
    y.Cover(layer.y);
  }
  void operator()(const ErrorBars& layer) {
    x.Cover(layer.low);
    x.Cover(layer.high);
    y.Cover(layer.y);
  }
};

AxisRange Padded(const AxisRange& range, double fraction) {
  return {range.low - fraction * range.Span(), range.high + fraction * range.Span()};
}

// As many marks as have room side by side.
std::vector<Tick> HorizontalTicks(const AxisRange& range, double width) {
  int most = 7;
  std::vector<Tick> ticks = NiceTicks(range, most);
  while (most > 2 && static_cast<double>(ticks.size()) * (WidestLabel(ticks) + 16) > width) {
    ticks = NiceTicks(range, --most);
  }
  return ticks;
}

std::vector<Tick> VerticalTicks(const AxisRange& range, double height) {
  return NiceTicks(range, std::clamp(static_cast<int>(height / 28), 2, 8));
}

void LayOutLegend(const Figure::Panel& panel, double width, PanelLayout* layout) {
  double x = 0;
  double y = kLegendLine / 2;
  for (std::size_t k = 0; k < panel.layers.size(); ++k) {
    const std::string& label = LegendLabel(panel.layers[k]);
    if (label.empty()) continue;
    const double entry_width = kSwatch + 5 + TextWidth(label, kTickSize);
    if (x > 0 && x + entry_width > width) {
      x = 0;
      y += kLegendLine;
    }
    layout->legend.push_back({k, x, y});
    x += entry_width + 12;
    layout->legend_height = y + kLegendLine / 2;
  }
}

// The name of the colour scale, or the panel's own place if it has no name.
using ScaleKey = std::tuple<std::string, Index, Index>;

ScaleKey KeyOf(const std::pair<Index, Index>& place, const PanelOptions& options) {
  if (options.color_scale.empty()) return {"", place.first, place.second};
  return {options.color_scale, 0, 0};
}

// Room that the panels of a row or column need around their plots.
struct Surroundings {
  double left = 0, right = 0, bottom = 0;
  double legend = 0, title = 0;  // above the plot, the legend below the title

  void Cover(const Surroundings& other) {
    left = std::max(left, other.left);
    right = std::max(right, other.right);
    bottom = std::max(bottom, other.bottom);
    legend = std::max(legend, other.legend);
    title = std::max(title, other.title);
  }
};

Surroundings RoomAround(const PanelOptions& options, const PanelLayout& layout) {
  Surroundings room;
  room.left = kTickLength + 4 + WidestLabel(layout.y_ticks);
  if (!options.y_label.empty()) room.left += kLabelSize + 8;
  room.right = WidestLabel(layout.x_ticks) / 2;
  if (layout.has_colors) {
    room.right = kBarGap + kBarWidth + kTickLength + 4 + WidestLabel(layout.color_ticks);
    if (!options.color_label.empty()) room.right += kLabelSize + 8;
  }
  // The uppermost y label rises above the plot by half its height.
  room.legend = std::max(kTickSize / 2, layout.legend.empty() ? 0 : layout.legend_height + 5);
  if (!options.title.empty()) room.title = kTitleSize + 5;
  room.bottom = kTickLength + 4 + kTickSize;
  if (!options.x_label.empty()) room.bottom += kLabelSize + 6;
  return room;
}

// The ranges of the colour scales, which several panels may share. A range that one of them asks
// for wins over what all of them show.
class ColorScales {
 public:
  void Cover(const ScaleKey& key, const Extent& colors, const PanelOptions& options) {
    seen_[key].Cover(AxisRange{colors.low, colors.high});
    if (options.color_range) given_[key] = *options.color_range;
  }
  AxisRange RangeOf(const ScaleKey& key) const {
    const auto given = given_.find(key);
    return given != given_.end() ? given->second : seen_.at(key).Range();
  }

 private:
  std::map<ScaleKey, Extent> seen_;
  std::map<ScaleKey, AxisRange> given_;
};

// Axes, ticks and legend of a panel.
void LayOutPanel(const FigureOptions& options, const Figure::Panel& panel, const Extents& extents,
                 PanelLayout* layout) {
  layout->has_colors = extents.colors.low <= extents.colors.high;
  // A heat map fills its panel to the edge; points and curves keep clear of it.
  const double padding = extents.has_heat_map ? 0 : 0.04;
  layout->x = panel.options.x_range.value_or(Padded(extents.x.Range(), padding));
  layout->y = panel.options.y_range.value_or(Padded(extents.y.Range(), padding));
  layout->x_ticks = HorizontalTicks(layout->x, options.panel_width);
  layout->y_ticks = panel.options.y_ticks.empty() ? VerticalTicks(layout->y, options.panel_height)
                                                  : panel.options.y_ticks;
  LayOutLegend(panel, options.panel_width, layout);
}

// Puts the panels side by side and below each other, with the room that rows and columns need.
void PlacePanels(const FigureOptions& options, std::map<Index, Surroundings> rows,
                 std::map<Index, Surroundings> columns, FigureLayout* figure) {
  std::map<Index, double> lefts, tops;
  figure->width = kMargin;
  for (Index c = 0; c <= columns.rbegin()->first; ++c) {
    if (c > 0) figure->width += kColumnGap;
    lefts[c] = figure->width + columns[c].left;
    figure->width = lefts[c] + options.panel_width + columns[c].right;
  }
  figure->width += kMargin;
  figure->height = kMargin;
  if (!options.title.empty()) figure->height += kFigureTitleSize + 10;
  for (Index r = 0; r <= rows.rbegin()->first; ++r) {
    if (r > 0) figure->height += kRowGap;
    tops[r] = figure->height + rows[r].legend + rows[r].title;
    figure->height = tops[r] + options.panel_height + rows[r].bottom;
  }
  figure->height += kMargin;
  for (auto& [place, layout] : figure->panels) {
    layout.left = lefts[place.second];
    layout.top = tops[place.first];
    layout.title_rise = rows[place.first].legend + 3;
  }
}

}  // namespace

double TextWidth(std::string_view text, double font_size) {
  // Continuation bytes of UTF-8 belong to the character before.
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
  });
  return 0.62 * font_size * static_cast<double>(characters);
}

double WidestLabel(const std::vector<Tick>& ticks) {
  double widest = 0;
  for (const Tick& tick : ticks) widest = std::max(widest, TextWidth(tick.label, kTickSize));
  return widest;
}

double FittingSize(std::string_view text, double font_size, double width) {
  const double needed = TextWidth(text, font_size);
  return needed <= width ? font_size : std::max(7.0, font_size * width / needed);
}

const std::string& LegendLabel(const Figure::Layer& layer) {
  static const std::string none;
  if (const auto* scatter = std::get_if<Scatter>(&layer)) return scatter->label;
  if (const auto* band = std::get_if<Band>(&layer)) return band->label;
  if (const auto* curve = std::get_if<Curve>(&layer)) return curve->label;
  if (const auto* bars = std::get_if<ErrorBars>(&layer)) return bars->label;
  return none;
}

FigureLayout LayOut(const FigureOptions& options, const Figure::Panels& panels) {
  ColorScales scales;
  FigureLayout figure;
  for (const auto& [place, panel] : panels) {
    Extents extents;
    for (const Figure::Layer& layer : panel.layers) std::visit(extents, layer);
    PanelLayout& layout = figure.panels[place];
    LayOutPanel(options, panel, extents, &layout);
    if (layout.has_colors) scales.Cover(KeyOf(place, panel.options), extents.colors, panel.options);
  }

  std::map<Index, Surroundings> rows, columns;
  for (const auto& [place, panel] : panels) {
    PanelLayout& layout = figure.panels[place];
    if (layout.has_colors) {
      layout.colors = scales.RangeOf(KeyOf(place, panel.options));
      layout.color_ticks = VerticalTicks(layout.colors, options.panel_height);
    }
    const Surroundings room = RoomAround(panel.options, layout);
    rows[place.first].Cover(room);
    columns[place.second].Cover(room);
  }
  PlacePanels(options, std::move(rows), std::move(columns), &figure);
  return figure;
}

}  // namespace fathom
