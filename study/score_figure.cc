#include "study/score_figure.h"

#include <algorithm>
#include <cmath>

#include "plot/figure.h"

namespace fathom {

namespace {

// A place for each method of the table in every panel, the first on top.
double LineOf(std::size_t column, std::size_t columns) {
  return static_cast<double>(columns - 1 - column);
}

ErrorBars BarsOf(const ScoreTable& table, const ScoreRow& row, bool published) {
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (row.cells[c].has_value() && table.columns[c].published.has_value() == published)
      places.push_back(c);
  }
  const auto count = static_cast<Index>(places.size());
  ErrorBars bars{Vector(count), Vector(count), Vector(count), Vector(count), ""};
  for (Index i = 0; i < count; ++i) {
    const std::size_t place = places[static_cast<std::size_t>(i)];
    const ScoreCell& cell = row.cells[place];
    const double error = std::isnan(cell.error) ? 0 : cell.error;
    bars.x[i] = cell.mean;
    bars.y[i] = LineOf(place, table.columns.size());
    bars.low[i] = cell.mean - error;
    bars.high[i] = cell.mean + error;
  }
  return bars;
}

}  // namespace

std::string ScoreFigure(const ScoreTable& table) {
  const std::size_t lines = table.columns.size();
  const bool has_published = table.columns.back().published.has_value();
  Figure figure({.title = std::string(table.kind.heading) + " ± standard error" +
                          (has_published ? "; † published by others, ‡ on other splits" : ""),
                 .panel_width = 220,
                 .panel_height = std::max(80.0, 16.0 * static_cast<double>(lines))});
  std::vector<Tick> names, no_names;
  for (std::size_t c = 0; c < lines; ++c) {
    const ScoreColumn& column = table.columns[c];
    names.push_back({LineOf(c, lines), MarkedName(column)});
    no_names.push_back({LineOf(c, lines), ""});
  }
  constexpr Index kColumns = 3;
  Index place = 0;
  for (const ScoreRow& row : table.rows) {
    if (row.unseen) continue;
    const PanelOptions panel{.title = row.dataset,
                             .y_range = AxisRange{-0.7, static_cast<double>(lines) - 0.3},
                             .y_ticks = place % kColumns == 0 ? names : no_names};
    figure.AddErrorBars(place / kColumns, place % kColumns, panel, BarsOf(table, row, false));
    figure.AddErrorBars(place / kColumns, place % kColumns, {}, BarsOf(table, row, true));
    ++place;
  }
  return figure.Svg();
}

}  // namespace fathom
