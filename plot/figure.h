// Figures for the demos, written as SVG: a grid of panels, each with axes and any number of layers.
//
//   Figure figure({.title = "Mountain car"});
//   figure.AddHeatMap(0, 0, {.title = "Truth", .x_label = "position", .y_label = "velocity",
//                            .color_scale = "value"},
//                     {.x = {-1.2, 0.5}, .y = {-0.07, 0.07}, .values = values});
//   figure.AddScatter(0, 1, {.title = "Data", .color_scale = "value"}, {.x = x, .y = y, .value =
//   v}); figure.Save("mountain_car.svg");
//
// All data are checked when they are added: an Error names the panel, the layer and what is wrong.
#ifndef FATHOM_PLOT_FIGURE_H_
#define FATHOM_PLOT_FIGURE_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fathom/base/types.h"
#include "plot/ticks.h"

namespace fathom {

struct FigureOptions {
  std::string title = {};
  double panel_width = 300;  // of the plot within its axes, in pixels
  double panel_height = 210;
};

// How a panel looks. A second layer on the same panel may leave all this out; what it gives
// replaces what was there.
struct PanelOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::optional<AxisRange> x_range = {};  // by default, what the layers span
  std::optional<AxisRange> y_range = {};
  std::vector<Tick> y_ticks = {};  // names in place of numbers beside the axis; by default, numbers
  // Panels that name the same scale share its range of colours; an unnamed scale is the panel's
  // own.
  std::string color_scale = {};
  std::string color_label = {};
  std::optional<AxisRange> color_range = {};  // by default, what the values on the scale span
};

// values(i, j) colours a cell; rows go up along y and columns right along x. HeatMapPoints gives
// the centres.
struct HeatMap {
  AxisRange x = {};
  AxisRange y = {};
  Matrix values = {};
};

// Points: coloured by `value` if there is one for each, else all alike.
struct Scatter {
  Vector x = {};
  Vector y = {};
  Vector value = {};
  std::string label = {};  // in the legend, as for all layers; none if empty
  double radius = 3;
};

// A mean curve within a shaded band from `low` to `high`; x ascending.
struct Band {
  Vector x = {};
  Vector mean = {};
  Vector low = {};
  Vector high = {};
  std::string label = {};
};

// A thin dark line, for the truth; x ascending.
struct Curve {
  Vector x = {};
  Vector y = {};
  std::string label = {};
  bool dashed = true;
};

// Points with a horizontal bar each, from `low` to `high`, for estimates and their errors.
struct ErrorBars {
  Vector x = {};
  Vector y = {};
  Vector low = {};
  Vector high = {};
  std::string label = {};
  double width = 1.8;  // of the bars, in pixels
  double radius = 3;   // of the points; 0: there are none
};

// The cell centres of a heat map, [rows * columns, 2], row by row: a prediction for these points,
// reshaped to [rows, columns] in row-major order, is the heat map's `values`.
Matrix HeatMapPoints(const AxisRange& x, const AxisRange& y, Index columns, Index rows);

class Figure {
 public:
  explicit Figure(FigureOptions options = {});

  // Rows count from the top and columns from the left, from 0; places left out stay blank.
  void AddHeatMap(Index row, Index column, const PanelOptions& panel, HeatMap layer);
  void AddScatter(Index row, Index column, const PanelOptions& panel, Scatter layer);
  void AddBand(Index row, Index column, const PanelOptions& panel, Band layer);
  void AddCurve(Index row, Index column, const PanelOptions& panel, Curve layer);
  void AddErrorBars(Index row, Index column, const PanelOptions& panel, ErrorBars layer);

  std::string Svg() const;
  // Writes beside `path` first and renames, so that a reader never sees half a figure.
  void Save(const std::filesystem::path& path) const;

  using Layer = std::variant<HeatMap, Scatter, Band, Curve, ErrorBars>;
  struct Panel {
    PanelOptions options;
    std::vector<Layer> layers;
  };
  using Panels = std::map<std::pair<Index, Index>, Panel>;  // by (row, column)

 private:
  void Add(Index row, Index column, const PanelOptions& options, Layer layer);

  FigureOptions options_;
  Panels panels_;
};

}  // namespace fathom

#endif  // FATHOM_PLOT_FIGURE_H_
