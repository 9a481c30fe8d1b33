#include "plot/figure_drawing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "plot/color_map.h"
#include "plot/figure_layout.h"
#include "plot/svg.h"

namespace fathom {
namespace {

constexpr char kInk[] = "#262626";
constexpr char kFaint[] = "#e6e6e6";
constexpr int kShades = 128;  // of a heat map; more would not be told apart, and cost space

// Rows overlap a little: at some zooms, rounding to pixels would else leave a white line between
// two of them.
constexpr double kRowStroke = 1.1;

// Draws one panel; the visitor of its layers.
class PanelDrawing {
 public:
  PanelDrawing(const FigureOptions& figure, const Figure::Panel& panel, const PanelLayout& layout,
               SvgWriter* svg)
      : width_(figure.panel_width),
        height_(figure.panel_height),
        panel_(panel),
        layout_(layout),
        svg_(*svg) {}

  void Draw() {
    // Coordinates within the group are those of the plot, with its upper left corner at 0.
    svg_.Open("g", {{"transform", SvgText("translate(", layout_.left, " ", layout_.top, ")")}});
    DrawGrid();
    for (const Figure::Layer& layer : panel_.layers) {
      hue_ = HueOf(layer);
      std::visit(*this, layer);
    }
    DrawAxes();
    if (layout_.has_colors) DrawColorBar();
    DrawLegend();
    svg_.Close();
  }

  void operator()(const HeatMap& map) {
    const double left = X(map.x.low);
    const double top = Y(map.y.high);
    OpenClipped();
    svg_.Open("svg", {{"x", left},
                      {"y", top},
                      {"width", X(map.x.high) - left},
                      {"height", Y(map.y.low) - top},
                      {"viewBox", SvgText("0 -0.5 ", map.values.cols(), " ", map.values.rows())},
                      {"preserveAspectRatio", "none"},
                      {"fill", "none"},
                      {"stroke-width", kRowStroke},
                      {"shape-rendering", "crispEdges"}});
    const std::vector<std::string> paths = ShadePaths(map.values);
    for (int shade = 0; shade < kShades; ++shade) {
      if (paths[shade].empty()) continue;
      svg_.Leaf("path", {{"stroke", ShadeColor(shade)}, {"d", paths[shade]}});
    }
    svg_.Close();
    svg_.Close();
  }

  void operator()(const Scatter& points) {
    const bool colored = points.value.size() > 0;
    svg_.Open("g", {{"fill", kInk}, {"stroke", colored ? kInk : "#ffffff"}, {"stroke-width", 0.6}});
    for (Index i = 0; i < points.x.size(); ++i) {
      // Points at the rim are drawn whole, points beyond it not at all.
      if (!Within(layout_.x, points.x(i)) || !Within(layout_.y, points.y(i))) continue;
      const double x = X(points.x(i));
      const double y = Y(points.y(i));
      if (colored) {
        svg_.Leaf("circle", {{"cx", x},
                             {"cy", y},
                             {"r", points.radius},
                             {"fill", ShadeColor(Shade(points.value(i)))}});
      } else {
        svg_.Leaf("circle", {{"cx", x}, {"cy", y}, {"r", points.radius}});
      }
    }
    svg_.Close();
  }

  void operator()(const Band& band) {
    if (band.x.size() == 0) return;
    const std::string outline = SvgText("M", Points(band.x, band.high), "L",
                                        Points(band.x.reverse(), band.low.reverse()), "Z");
    OpenClipped();
    svg_.Leaf("path", {{"d", outline}, {"fill", hue_}, {"fill-opacity", 0.22}});
    DrawLine(SvgText("M", Points(band.x, band.mean)), hue_, 1.8, "none");
    svg_.Close();
  }

  void operator()(const Curve& curve) {
    if (curve.x.size() == 0) return;
    OpenClipped();
    DrawLine(SvgText("M", Points(curve.x, curve.y)), kInk, 1.2, curve.dashed ? "5 3" : "none");
    svg_.Close();
  }

  void operator()(const ErrorBars& bars) {
    for (Index i = 0; i < bars.x.size(); ++i) {
      const double y = Y(bars.y(i));
      DrawLine(SvgText("M", X(bars.low(i)), " ", y, "H", X(bars.high(i))), hue_, bars.width,
               "none");
      svg_.Leaf("circle", {{"cx", X(bars.x(i))}, {"cy", y}, {"r", bars.radius}, {"fill", hue_}});
    }
  }

 private:
  double X(double x) const { return width_ * (x - layout_.x.low) / layout_.x.Span(); }
  double Y(double y) const { return height_ * (layout_.y.high - y) / layout_.y.Span(); }

  static bool Within(const AxisRange& range, double value) {
    return value >= range.low && value <= range.high;
  }

  int Shade(double value) const {
    const double t = std::clamp((value - layout_.colors.low) / layout_.colors.Span(), 0.0, 1.0);
    return std::min(static_cast<int>(t * kShades), kShades - 1);
  }
  static std::string ShadeColor(int shade) { return RampColor((shade + 0.5) / kShades).Hex(); }

  static bool HasHue(const Figure::Layer& layer) {
    return std::holds_alternative<Band>(layer) || std::holds_alternative<ErrorBars>(layer);
  }

  // Bands and error bars of a panel take the hues in turn.
  std::string HueOf(const Figure::Layer& layer) const {
    std::size_t before = 0;
    for (const Figure::Layer& other : panel_.layers) {
      if (&other == &layer) break;
      before += HasHue(other);
    }
    return CurveColor(before).Hex();
  }

  // A nested viewport clips as a clipPath would, but needs no name that might clash within a page.
  void OpenClipped() { svg_.Open("svg", {{"width", width_}, {"height", height_}}); }

  // One path for each shade: a stroke along each run of equal cells, in units of one cell, with y =
  // 0 in the middle of the top row. Strokes take half the bytes of rectangles, and each starts
  // relative to the end of the last of its shade, which is mostly near.
  std::vector<std::string> ShadePaths(const Matrix& values) const {
    std::vector<std::string> paths(kShades);
    std::vector<std::pair<Index, Index>> last(kShades);  // column and row where the last run ended
    for (Index row = 0; row < values.rows(); ++row) {
      const auto cells = values.row(values.rows() - 1 - row);
      for (Index j = 0; j < cells.size();) {
        const int shade = Shade(cells(j));
        const Index start = j;
        while (j < cells.size() && Shade(cells(j)) == shade) ++j;
        const auto [last_column, last_row] = last[shade];
        paths[shade] += SvgText("m", start - last_column, " ", row - last_row, "h", j - start);
        last[shade] = {j, row};
      }
    }
    return paths;
  }

  template <typename Xs, typename Ys>
  std::string Points(const Xs& xs, const Ys& ys) const {
    std::string points;
    for (Index i = 0; i < xs.size(); ++i) {
      if (i > 0) points += " ";
      points += SvgText(X(xs(i)), " ", Y(ys(i)));
    }
    return points;
  }

  void DrawLine(const std::string& path, std::string_view color, double width,
                std::string_view dashes) {
    svg_.Leaf("path", {{"d", path},
                       {"fill", "none"},
                       {"stroke", color},
                       {"stroke-width", width},
                       {"stroke-linejoin", "round"},
                       {"stroke-dasharray", dashes}});
  }

  void DrawMark(double x0, double y0, double x1, double y1, const char* color) {
    svg_.Leaf(
        "line",
        {{"x1", x0}, {"y1", y0}, {"x2", x1}, {"y2", y1}, {"stroke", color}, {"stroke-width", 0.8}});
  }

  // Helps to read curves; behind heat maps and clouds of points it would only disturb.
  void DrawGrid() {
    const bool curves = std::any_of(
        panel_.layers.begin(), panel_.layers.end(),
        [](const auto& layer) { return HasHue(layer) || std::holds_alternative<Curve>(layer); });
    if (!curves) return;
    for (const Tick& tick : layout_.x_ticks) DrawMark(X(tick.at), 0, X(tick.at), height_, kFaint);
    for (const Tick& tick : layout_.y_ticks) DrawMark(0, Y(tick.at), width_, Y(tick.at), kFaint);
  }

  void DrawFrame(double x, double width, std::string_view fill) {
    svg_.Leaf("rect", {{"x", x},
                       {"y", 0},
                       {"width", width},
                       {"height", height_},
                       {"fill", fill},
                       {"stroke", kInk},
                       {"stroke-width", 0.8}});
  }

  void DrawText(std::string_view text, double x, double y, double size, const char* anchor) {
    svg_.Text(text,
              {{"x", x}, {"y", y}, {"font-size", size}, {"text-anchor", anchor}, {"fill", kInk}});
  }

  // Reads upward, centred on the plot's height.
  void DrawUprightText(std::string_view text, double x) {
    svg_.Text(text, {{"transform", SvgText("translate(", x, " ", height_ / 2, ") rotate(-90)")},
                     {"font-size", FittingSize(text, kLabelSize, height_)},
                     {"text-anchor", "middle"},
                     {"fill", kInk}});
  }

  void DrawAxes() {
    const PanelOptions& options = panel_.options;
    DrawFrame(0, width_, "none");
    for (const Tick& tick : layout_.x_ticks) {
      const double x = X(tick.at);
      DrawMark(x, height_, x, height_ + kTickLength, kInk);
      DrawText(tick.label, x, height_ + kTickLength + 2 + kTickSize, kTickSize, "middle");
    }
    for (const Tick& tick : layout_.y_ticks) {
      const double y = Y(tick.at);
      DrawMark(-kTickLength, y, 0, y, kInk);
      DrawText(tick.label, -kTickLength - 3, y + 0.35 * kTickSize, kTickSize, "end");
    }
    if (!options.x_label.empty()) {
      DrawText(options.x_label, width_ / 2, height_ + kTickLength + 6 + kTickSize + kLabelSize,
               FittingSize(options.x_label, kLabelSize, width_), "middle");
    }
    if (!options.y_label.empty()) {
      DrawUprightText(options.y_label, -kTickLength - 10 - WidestLabel(layout_.y_ticks));
    }
    if (!options.title.empty()) {
      svg_.Text(options.title, {{"x", width_ / 2},
                                {"y", -layout_.title_rise},
                                {"font-size", FittingSize(options.title, kTitleSize, width_)},
                                {"font-weight", "bold"},
                                {"text-anchor", "middle"},
                                {"fill", kInk}});
    }
  }

  void DrawColorBar() {
    const double left = width_ + kBarGap;
    const double right = left + kBarWidth;
    DrawFrame(left, kBarWidth, "url(#fathom-ramp)");
    for (const Tick& tick : layout_.color_ticks) {
      const double y = height_ * (layout_.colors.high - tick.at) / layout_.colors.Span();
      DrawMark(right, y, right + kTickLength, y, kInk);
      DrawText(tick.label, right + kTickLength + 3, y + 0.35 * kTickSize, kTickSize, "start");
    }
    if (!panel_.options.color_label.empty()) {
      DrawUprightText(panel_.options.color_label,
                      right + kTickLength + 6 + kLabelSize + WidestLabel(layout_.color_ticks));
    }
  }

  void DrawLegend() {
    for (const LegendEntry& entry : layout_.legend) {
      const Figure::Layer& layer = panel_.layers[entry.layer];
      const double y = entry.y - layout_.legend_height - 4;
      const std::string line = SvgText("M", entry.x, " ", y, "h", kSwatch);
      if (std::holds_alternative<Band>(layer)) {
        const std::string hue = HueOf(layer);
        svg_.Leaf("rect", {{"x", entry.x},
                           {"y", y - 5},
                           {"width", kSwatch},
                           {"height", 10},
                           {"fill", hue},
                           {"fill-opacity", 0.22}});
        DrawLine(line, hue, 1.8, "none");
      } else if (const auto* bars = std::get_if<ErrorBars>(&layer)) {
        DrawLine(line, HueOf(layer), bars->width, "none");
        svg_.Leaf("circle", {{"cx", entry.x + kSwatch / 2},
                             {"cy", y},
                             {"r", bars->radius},
                             {"fill", HueOf(layer)}});
      } else if (const auto* curve = std::get_if<Curve>(&layer)) {
        DrawLine(line, kInk, 1.2, curve->dashed ? "5 3" : "none");
      } else if (const auto* points = std::get_if<Scatter>(&layer)) {
        svg_.Leaf("circle", {{"cx", entry.x + kSwatch / 2},
                             {"cy", y},
                             {"r", std::min(points->radius, 5.0)},
                             {"fill", kInk}});
      }
      DrawText(LegendLabel(layer), entry.x + kSwatch + 5, y + 0.35 * kTickSize, kTickSize, "start");
    }
  }

  const double width_, height_;
  const Figure::Panel& panel_;
  const PanelLayout& layout_;
  SvgWriter& svg_;
  std::string hue_;  // of the layer being drawn
};

// The same in every figure, so that several in one page may share its name.
void DefineRamp(SvgWriter* svg) {
  constexpr int kStops = 16;
  svg->Open("defs", {});
  svg->Open("linearGradient", {{"id", "fathom-ramp"}, {"x1", 0}, {"y1", 1}, {"x2", 0}, {"y2", 0}});
  for (int k = 0; k <= kStops; ++k) {
    const double t = static_cast<double>(k) / kStops;
    svg->Leaf("stop", {{"offset", ShortNumber(t, 4)}, {"stop-color", RampColor(t).Hex()}});
  }
  svg->Close();
  svg->Close();
}

}  // namespace

std::string DrawFigure(const FigureOptions& options, const Figure::Panels& panels) {
  const FigureLayout layout = LayOut(options, panels);
  SvgWriter svg(layout.width, layout.height);
  if (!options.title.empty()) svg.Title(options.title);
  if (std::any_of(layout.panels.begin(), layout.panels.end(),
                  [](const auto& panel) { return panel.second.has_colors; })) {
    DefineRamp(&svg);
  }
  svg.Leaf("rect", {{"width", layout.width}, {"height", layout.height}, {"fill", "#ffffff"}});
  if (!options.title.empty()) {
    svg.Text(options.title,
             {{"x", layout.width / 2},
              {"y", 10 + kFigureTitleSize},
              {"font-size", FittingSize(options.title, kFigureTitleSize, layout.width - 20)},
              {"font-weight", "bold"},
              {"text-anchor", "middle"},
              {"fill", kInk}});
  }
  for (const auto& [place, panel] : panels) {
    PanelDrawing(options, panel, layout.panels.at(place), &svg).Draw();
  }
  return std::move(svg).Finish();
}

}  // namespace fathom
