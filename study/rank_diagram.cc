#include "study/rank_diagram.h"

#include <algorithm>

#include "plot/figure_layout.h"
#include "plot/svg.h"

namespace fathom {

namespace {

constexpr double kDiagramMargin = 14;  // all lengths in pixels
constexpr double kAxisWidth = 420;     // from the first rank to the last
constexpr double kScaleTop = 48;       // of the bar that shows the critical difference
constexpr double kAxisTop = 88;
constexpr double kBarStep = 8;    // between two bars over methods that are not told apart
constexpr double kNameStep = 20;  // between the names of two methods
constexpr double kFont = 12;
constexpr char kDiagramInk[] = "#262626";
constexpr char kOurs[] = "#2a62b0";

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

class Diagram {
 public:
  Diagram(std::vector<Entry> entries, double difference, std::string title)
      : entries_(std::move(entries)),
        difference_(difference),
        title_(std::move(title)),
        scale_label_("critical difference " + ShortNumber(difference, 2)) {
    Vector ascending(static_cast<Index>(entries_.size()));
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      ascending[static_cast<Index>(i)] = entries_[i].rank;
      widest_ = std::max(widest_, TextWidth(entries_[i].label, kFont));
    }
    left_ = kDiagramMargin + widest_ + 12;
    runs_ = IndistinctRuns(ascending, difference);
    names_top_ = kAxisTop + 24 + kBarStep * static_cast<double>(runs_.size());
  }

  std::string Draw() && {
    // A large difference between few methods reaches beyond the axis.
    const double scale_end = X(1 + difference_) + 8 + TextWidth(scale_label_, kFont);
    const double width = std::max(left_ + kAxisWidth + 12 + widest_, scale_end) + kDiagramMargin;
    const double height = names_top_ + kNameStep * static_cast<double>(OnLeft()) + kDiagramMargin;
    SvgWriter svg(width, height);
    svg.Title(title_);
    svg.Leaf("rect", {{"width", width}, {"height", height}, {"fill", "#ffffff"}});
    svg.Text(title_, {{"x", width / 2},
                      {"y", kDiagramMargin + 10},
                      {"font-size", FittingSize(title_, 14, width - 2 * kDiagramMargin)},
                      {"font-weight", "bold"},
                      {"text-anchor", "middle"},
                      {"fill", kDiagramInk}});
    DrawScale(&svg);
    DrawAxis(&svg);
    DrawRuns(&svg);
    for (std::size_t i = 0; i < entries_.size(); ++i) DrawEntry(i, &svg);
    return std::move(svg).Finish();
  }

 private:
  double X(double rank) const {
    return left_ + kAxisWidth * (rank - 1) / (static_cast<double>(entries_.size()) - 1);
  }
  // Names of the better half stand on the left of the diagram.
  std::size_t OnLeft() const { return (entries_.size() + 1) / 2; }

  struct Point {
    double x, y;
  };

  static void Line(SvgWriter* svg, Point from, Point to, const char* color, double width) {
    svg->Leaf("line", {{"x1", from.x},
                       {"y1", from.y},
                       {"x2", to.x},
                       {"y2", to.y},
                       {"stroke", color},
                       {"stroke-width", width}});
  }
  static void Write(SvgWriter* svg, const std::string& text, double x, double y, const char* anchor,
                    const char* color = kDiagramInk) {
    svg->Text(text,
              {{"x", x}, {"y", y}, {"font-size", kFont}, {"text-anchor", anchor}, {"fill", color}});
  }

  void DrawScale(SvgWriter* svg) const {
    const double begin = X(1);
    const double end = X(1 + difference_);
    Line(svg, {begin, kScaleTop}, {end, kScaleTop}, kDiagramInk, 1.5);
    for (const double x : {begin, end})
      Line(svg, {x, kScaleTop - 4}, {x, kScaleTop + 4}, kDiagramInk, 1.5);
    Write(svg, scale_label_, end + 8, kScaleTop + 4, "start");
  }

  void DrawAxis(SvgWriter* svg) const {
    Line(svg, {X(1), kAxisTop}, {X(static_cast<double>(entries_.size())), kAxisTop}, kDiagramInk,
         1.2);
    for (std::size_t rank = 1; rank <= entries_.size(); ++rank) {
      const double x = X(static_cast<double>(rank));
      Line(svg, {x, kAxisTop - 5}, {x, kAxisTop}, kDiagramInk, 1.2);
      Write(svg, std::to_string(rank), x, kAxisTop - 9, "middle");
    }
  }

  void DrawRuns(SvgWriter* svg) const {
    double y = kAxisTop + 12;
    for (const auto& [first, last] : runs_) {
      Line(svg, {X(entries_[static_cast<std::size_t>(first)].rank) - 3, y},
           {X(entries_[static_cast<std::size_t>(last)].rank) + 3, y}, kDiagramInk, 3);
      y += kBarStep;
    }
  }

  void DrawEntry(std::size_t i, SvgWriter* svg) const {
    const Entry& entry = entries_[i];
    const bool is_left = i < OnLeft();
    // The best and the worst are on top, so that no line crosses another.
    const std::size_t line = is_left ? i : entries_.size() - 1 - i;
    const double y = names_top_ + kNameStep * (static_cast<double>(line) + 0.5);
    const double end = is_left ? left_ - 6 : left_ + kAxisWidth + 6;
    const char* color = entry.ours ? kOurs : kDiagramInk;
    Line(svg, {X(entry.rank), kAxisTop}, {X(entry.rank), y}, color, 1);
    Line(svg, {X(entry.rank), y}, {end, y}, color, 1);
    Write(svg, entry.label, is_left ? end - 4 : end + 4, y + 4, is_left ? "end" : "start", color);
  }

  std::vector<Entry> entries_;  // best first
  double difference_;
  std::string title_, scale_label_;
  double widest_ = 0, left_ = 0, names_top_ = 0;
  std::vector<std::pair<Index, Index>> runs_;
};

}  // namespace

std::vector<std::pair<Index, Index>> IndistinctRuns(const Vector& ascending, double difference) {
  std::vector<std::pair<Index, Index>> runs;
  for (Index first = 0; first < ascending.size(); ++first) {
    Index last = first;
    while (last + 1 < ascending.size() && ascending[last + 1] - ascending[first] < difference)
      ++last;
    if (last > first && (runs.empty() || last > runs.back().second)) runs.emplace_back(first, last);
  }
  return runs;
}

std::string RankDiagram(const ScoreTable& table, const TableRanks& ranks) {
  return Diagram(ByRank(table, ranks), ranks.comparison.critical_difference,
                 std::string(table.kind.heading) + ": average ranks over " +
                     std::to_string(ranks.datasets.size()) + " datasets")
      .Draw();
}

}  // namespace fathom
