#include "plot/figure.h"

#include <cmath>
#include <fstream>
#include <system_error>

#include "fathom/base/error.h"
#include "plot/figure_drawing.h"

namespace fathom {
namespace {

// Where a fault lies: "figure, panel (0, 1), scatter".
struct Place {
  Index row, column;
  const char* layer;
};

std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << "figure, panel (" << place.row << ", " << place.column << "), " << place.layer;
}

// Far from overflow when ranges are subtracted and padded.
bool Drawable(double value) { return std::abs(value) <= 1e100; }

void CheckRange(const Place& place, const char* name, const AxisRange& range) {
  if (!Drawable(range.low) || !Drawable(range.high) || !(range.low < range.high)) {
    ThrowError(place, ": ", name, " must go from a lower to a higher finite number, not from ",
               range.low, " to ", range.high);
  }
}

void CheckSeries(const Place& place, const char* name, const Vector& values, Index size) {
  if (values.size() != size) {
    ThrowError(place, ": ", name, " has ", values.size(), " values but x has ", size,
               "; give one for each x");
  }
  for (Index i = 0; i < size; ++i) {
    if (!Drawable(values(i))) {
      ThrowError(place, ": ", name, "(", i, ") is ", values(i),
                 ", which cannot be drawn; leave this point out");
    }
  }
}

void CheckAscending(const Place& place, const Vector& x) {
  for (Index i = 1; i < x.size(); ++i) {
    if (x(i) < x(i - 1)) {
      ThrowError(place, ": x(", i, ") = ", x(i), " is below x(", i - 1, ") = ", x(i - 1),
                 "; sort the points by x");
    }
  }
}

void CheckOptions(const Place& place, const PanelOptions& options) {
  if (options.x_range) CheckRange(place, "x_range", *options.x_range);
  if (options.y_range) CheckRange(place, "y_range", *options.y_range);
  if (options.color_range) CheckRange(place, "color_range", *options.color_range);
}

// What `added` gives replaces what `options` had.
void Merge(const PanelOptions& added, PanelOptions* options) {
  for (const auto field : {&PanelOptions::title, &PanelOptions::x_label, &PanelOptions::y_label,
                           &PanelOptions::color_scale, &PanelOptions::color_label}) {
    if (!(added.*field).empty()) options->*field = added.*field;
  }
  for (const auto field :
       {&PanelOptions::x_range, &PanelOptions::y_range, &PanelOptions::color_range}) {
    if (added.*field) options->*field = added.*field;
  }
  if (!added.y_ticks.empty()) options->y_ticks = added.y_ticks;
}

}  // namespace

Matrix HeatMapPoints(const AxisRange& x, const AxisRange& y, Index columns, Index rows) {
  Require(columns >= 1, "columns of a heat map", "at least 1", columns);
  Require(rows >= 1, "rows of a heat map", "at least 1", rows);
  Matrix points(rows * columns, 2);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      points(i * columns + j, 0) =
          x.low + x.Span() * (static_cast<double>(j) + 0.5) / static_cast<double>(columns);
      points(i * columns + j, 1) =
          y.low + y.Span() * (static_cast<double>(i) + 0.5) / static_cast<double>(rows);
    }
  }
  return points;
}

Figure::Figure(FigureOptions options) : options_(std::move(options)) {
  Require(options_.panel_width >= 80 && options_.panel_width <= 5000, "panel_width",
          "from 80 to 5000 pixels", options_.panel_width);
  Require(options_.panel_height >= 80 && options_.panel_height <= 5000, "panel_height",
          "from 80 to 5000 pixels", options_.panel_height);
}

void Figure::Add(Index row, Index column, const PanelOptions& options, Layer layer) {
  Require(row >= 0 && row < 100, "row of a panel", "from 0 to 99", row);
  Require(column >= 0 && column < 100, "column of a panel", "from 0 to 99", column);
  CheckOptions({row, column, "options"}, options);
  Panel& panel = panels_[{row, column}];
  Merge(options, &panel.options);
  panel.layers.push_back(std::move(layer));
}

void Figure::AddHeatMap(Index row, Index column, const PanelOptions& panel, HeatMap layer) {
  const Place place{row, column, "heat map"};
  CheckRange(place, "x", layer.x);
  CheckRange(place, "y", layer.y);
  if (layer.values.size() == 0) ThrowError(place, ": values are empty; give at least one cell");
  for (Index i = 0; i < layer.values.rows(); ++i) {
    for (Index j = 0; j < layer.values.cols(); ++j) {
      if (!Drawable(layer.values(i, j))) {
        ThrowError(place, ": values(", i, ", ", j, ") is ", layer.values(i, j),
                   ", which has no colour; every cell needs a finite value");
      }
    }
  }
  Add(row, column, panel, std::move(layer));
}

void Figure::AddScatter(Index row, Index column, const PanelOptions& panel, Scatter layer) {
  const Place place{row, column, "scatter"};
  CheckSeries(place, "x", layer.x, layer.x.size());
  CheckSeries(place, "y", layer.y, layer.x.size());
  if (layer.value.size() > 0) CheckSeries(place, "value", layer.value, layer.x.size());
  if (!(layer.radius > 0 && layer.radius < 100)) {
    ThrowError(place, ": radius must be above 0 and below 100 pixels, not ", layer.radius);
  }
  Add(row, column, panel, std::move(layer));
}

void Figure::AddBand(Index row, Index column, const PanelOptions& panel, Band layer) {
  const Place place{row, column, "band"};
  CheckSeries(place, "x", layer.x, layer.x.size());
  CheckAscending(place, layer.x);
  CheckSeries(place, "mean", layer.mean, layer.x.size());
  CheckSeries(place, "low", layer.low, layer.x.size());
  CheckSeries(place, "high", layer.high, layer.x.size());
  Add(row, column, panel, std::move(layer));
}

void Figure::AddCurve(Index row, Index column, const PanelOptions& panel, Curve layer) {
  const Place place{row, column, "curve"};
  CheckSeries(place, "x", layer.x, layer.x.size());
  CheckAscending(place, layer.x);
  CheckSeries(place, "y", layer.y, layer.x.size());
  Add(row, column, panel, std::move(layer));
}

void Figure::AddErrorBars(Index row, Index column, const PanelOptions& panel, ErrorBars layer) {
  const Place place{row, column, "error bars"};
  CheckSeries(place, "x", layer.x, layer.x.size());
  CheckSeries(place, "y", layer.y, layer.x.size());
  CheckSeries(place, "low", layer.low, layer.x.size());
  CheckSeries(place, "high", layer.high, layer.x.size());
  Add(row, column, panel, std::move(layer));
}

std::string Figure::Svg() const {
  if (panels_.empty()) ThrowError("figure: it has no panel; add at least one layer before drawing");
  return DrawFigure(options_, panels_);
}

void Figure::Save(const std::filesystem::path& path) const {
  const std::string svg = Svg();
  std::filesystem::path unfinished = path;
  unfinished += ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  file.write(svg.data(), static_cast<std::streamsize>(svg.size()));
  file.close();
  std::error_code fault;
  if (file) std::filesystem::rename(unfinished, path, fault);
  if (!file || fault) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    ThrowError("figure: cannot write ", path.string(), fault ? " (" + fault.message() + ")" : "",
               "; check that its folder exists, may be written to and has room");
  }
}

}  // namespace fathom
