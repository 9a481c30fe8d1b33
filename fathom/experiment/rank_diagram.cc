#include "fathom/experiment/rank_diagram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fathom/demo/figure.h"
#include "fathom/demo/figure_layout.h"
#include "fathom/demo/svg.h"

namespace fathom {

namespace {

constexpr double kRankWidth = 420;  // of the axis, in pixels
constexpr double kLine = 20;        // between the names of two methods
constexpr double kMargin = 14;
constexpr double kFont = 12;
constexpr char kInk[] = "#262626";
constexpr char kOurs[] = "#2a62b0";

void Line(SvgWriter* svg, double x0, double y0, double x1, double y1, const char* color,
          double width) {
  svg->Leaf(
      "line",
      {{"x1", x0}, {"y1", y0}, {"x2", x1}, {"y2", y1}, {"stroke", color}, {"stroke-width", width}});
}

void Write(SvgWriter* svg, const std::string& text, double x, double y, const char* anchor,
           const char* color = kInk) {
  svg->Text(text,
            {{"x", x}, {"y", y}, {"font-size", kFont}, {"text-anchor", anchor}, {"fill", color}});
}

struct Entry {
  std::string label;
  bool ours;
  double rank;
};

std::vector<Entry> ByRank(const ScoreTable& table, const TableRanks& ranks) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < ranks.columns.size(); ++i) {
    const ScoreColumn& column = table.columns[ranks.columns[i]];
    const double rank = ranks.comparison.mean[static_cast<Index>(i)];
    entries.push_back({MarkedName(column) + "  " + ShortNumber(rank, 2), !column.published, rank});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.rank < b.rank; });
  return entries;
}

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

std::vector<std::pair<Index, Index>> IndistinctRuns(const Vector& ascending, double difference) {
  std::vector<std::pair<Index, Index>> runs;
  for (Index first = 0; first < ascending.size(); ++first) {
    Index last = first;
    while (last + 1 < ascending.size() && ascending[last + 1] - ascending[first] < difference)
      ++last;
    if (last > first && (runs.empty() || last > runs.back().second)) runs.push_back({first, last});
  }
  return runs;
}

std::string RankDiagram(const ScoreTable& table, const TableRanks& ranks) {
  const std::vector<Entry> entries = ByRank(table, ranks);
  const auto count = entries.size();
  Vector ascending(static_cast<Index>(count));
  double widest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ascending[static_cast<Index>(i)] = entries[i].rank;
    widest = std::max(widest, TextWidth(entries[i].label, kFont));
  }
  const double difference = ranks.comparison.critical_difference;
  const std::vector<std::pair<Index, Index>> runs = IndistinctRuns(ascending, difference);

  const double left = kMargin + widest + 12;
  const double axis = kMargin + 74;
  const double bars = axis + 12;
  const double names = bars + 8 * static_cast<double>(runs.size()) + 12;
  const std::size_t on_left = (count + 1) / 2;
  const double width = left + kRankWidth + 12 + widest + kMargin;
  const double height = names + kLine * static_cast<double>(on_left) + kMargin;
  const auto x = [&](double rank) {
    return left + kRankWidth * (rank - 1) / (static_cast<double>(count) - 1);
  };
  SvgWriter svg(width, height);
  const std::string title = table.kind.title + ": average ranks over " +
                            std::to_string(ranks.datasets.size()) + " datasets";
  svg.Title(title);
  svg.Leaf("rect", {{"width", width}, {"height", height}, {"fill", "#ffffff"}});
  svg.Text(title, {{"x", width / 2},
                   {"y", kMargin + 10},
                   {"font-size", FittingSize(title, 14, width - 2 * kMargin)},
                   {"font-weight", "bold"},
                   {"text-anchor", "middle"},
                   {"fill", kInk}});

  const double scale = kMargin + 34;
  Line(&svg, x(1), scale, x(1 + difference), scale, kInk, 1.5);
  for (const double end : {x(1), x(1 + difference)})
    Line(&svg, end, scale - 4, end, scale + 4, kInk, 1.5);
  Write(&svg, "critical difference " + ShortNumber(difference, 2), x(1 + difference) + 8, scale + 4,
        "start");
  Line(&svg, x(1), axis, x(static_cast<double>(count)), axis, kInk, 1.2);
  for (std::size_t rank = 1; rank <= count; ++rank) {
    const double at = x(static_cast<double>(rank));
    Line(&svg, at, axis - 5, at, axis, kInk, 1.2);
    Write(&svg, std::to_string(rank), at, axis - 9, "middle");
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const double y = bars + 8 * static_cast<double>(r);
    Line(&svg, x(ascending[runs[r].first]) - 3, y, x(ascending[runs[r].second]) + 3, y, kInk, 3);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_left = i < on_left;
    // The best and the worst are on top, so that no line crosses another.
    const std::size_t line = is_left ? i : count - 1 - i;
    const double y = names + kLine * (static_cast<double>(line) + 0.5);
    const double end = is_left ? left - 6 : left + kRankWidth + 6;
    const char* color = entries[i].ours ? kOurs : kInk;
    Line(&svg, x(entries[i].rank), axis, x(entries[i].rank), y, color, 1);
    Line(&svg, x(entries[i].rank), y, end, y, color, 1);
    Write(&svg, entries[i].label, is_left ? end - 4 : end + 4, y + 4, is_left ? "end" : "start",
          color);
  }
  return std::move(svg).Finish();
}

std::string ScoreFigure(const ScoreTable& table) {
  const std::size_t lines = table.columns.size();
  const bool has_published = table.columns.back().published.has_value();
  Figure figure({.title = table.kind.title + " ± standard error" +
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
