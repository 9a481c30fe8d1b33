#include "report/figures.h"

#include <algorithm>
#include <cmath>

#include "plot/figure.h"

namespace fathom::report {

namespace {

Figure HalfPage() { return Figure({.panel_width = 330, .panel_height = 250}); }
constexpr AxisRange kShares{0, 1};

// What honest predictions give, and how far chance takes them from it.
Band HonestBand(const Vector& x, const Vector& expected, const std::vector<Index>& rows) {
  Band band{
      .x = x, .mean = expected, .low = expected, .high = expected, .label = "honest, ± chance"};
  for (Index i = 0; i < x.size(); ++i) {
    const double chance = ChanceAround(expected[i], rows[static_cast<std::size_t>(i)]);
    band.low[i] = std::max(0.0, expected[i] - chance);
    band.high[i] = std::min(1.0, expected[i] + chance);
  }
  return band;
}

// The rows whose numbers a figure can hold.
std::vector<NumberRow> Drawable(const std::vector<NumberRow>& rows) {
  std::vector<NumberRow> drawable;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(drawable), [](const NumberRow& row) {
    return std::max({std::abs(row.target), std::abs(row.mean), std::abs(row.low),
                     std::abs(row.high)}) < 1e99;
  });
  return drawable;
}

template <typename Field>
Vector Column(const std::vector<NumberRow>& rows, const Field& field) {
  Vector values(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) values[static_cast<Index>(i)] = field(rows[i]);
  return values;
}
Vector Targets(const std::vector<NumberRow>& rows) {
  return Column(rows, [](const NumberRow& row) { return row.target; });
}
Vector Means(const std::vector<NumberRow>& rows) {
  return Column(rows, [](const NumberRow& row) { return row.mean; });
}

// The names of columns may be of any length.
std::string Cut(const std::string& name) {
  constexpr std::size_t kLongest = 24;
  if (name.size() <= kLongest) return name;
  std::size_t end = kLongest - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80) --end;
  return name.substr(0, end) + "…";
}

}  // namespace

double ChanceAround(double p, Index rows) {
  return 1.96 * std::sqrt(p * (1 - p) / static_cast<double>(rows));
}

std::string CoverageFigure(const NumberFindings& findings) {
  const Index levels = findings.coverage.size();
  Vector promised(levels + 2), found(levels + 2);
  promised << 0, Vector::LinSpaced(levels, 0.05, 0.95), 1;
  found << 0, findings.coverage, 1;
  const std::vector<Index> rows(static_cast<std::size_t>(levels + 2), findings.scores.rows);
  Figure figure = HalfPage();
  figure.AddBand(0, 0,
                 {.x_label = "promised: level of the interval",
                  .y_label = "found: share of targets inside",
                  .x_range = kShares,
                  .y_range = kShares},
                 HonestBand(promised, promised, rows));
  figure.AddCurve(0, 0, {}, {.x = promised, .y = found, .label = "this table", .dashed = false});
  return figure.Svg();
}

std::string TenthsFigure(const NumberFindings& findings) {
  const Index bars = findings.tenths.size();
  const double honest = 1 / static_cast<double>(bars);
  // Stairs: two points for each bar.
  Vector x(2 * bars), height(2 * bars);
  for (Index k = 0; k < bars; ++k) {
    x[2 * k] = static_cast<double>(k) * honest;
    x[2 * k + 1] = static_cast<double>(k + 1) * honest;
    height[2 * k] = height[2 * k + 1] = findings.tenths[k];
  }
  const double chance = ChanceAround(honest, findings.scores.rows);
  const Vector ends = Vector::LinSpaced(2, 0, 1);
  const auto level = [](double value) { return Vector(Vector::Constant(2, value)); };
  const double top = std::max(findings.tenths.maxCoeff(), honest + chance);
  Figure figure = HalfPage();
  figure.AddBand(0, 0,
                 {.x_label = "predicted probability of staying below the target",
                  .y_label = "share of targets",
                  .x_range = kShares,
                  .y_range = AxisRange{0, 1.08 * top}},
                 {.x = ends,
                  .mean = level(honest),
                  .low = level(std::max(0.0, honest - chance)),
                  .high = level(honest + chance),
                  .label = "honest, ± chance"});
  figure.AddBand(
      0, 0, {}, {.x = x, .mean = height, .low = 0 * height, .high = height, .label = "this table"});
  return figure.Svg();
}

std::string TruthFigure(const std::string& target, const std::vector<NumberRow>& rows) {
  const std::vector<NumberRow> drawn = Drawable(rows);
  if (drawn.empty()) return "";
  const Vector truth = Targets(drawn), mean = Means(drawn);
  Vector ends(2);
  ends << std::min(truth.minCoeff(), mean.minCoeff()), std::max(truth.maxCoeff(), mean.maxCoeff());
  Figure figure = HalfPage();
  figure.AddErrorBars(0, 0,
                      {.x_label = "predicted " + Cut(target), .y_label = "true " + Cut(target)},
                      {.x = mean,
                       .y = truth,
                       .low = Column(drawn, [](const NumberRow& row) { return row.low; }),
                       .high = Column(drawn, [](const NumberRow& row) { return row.high; }),
                       .label = "95 % interval",
                       .width = 0.7,
                       .radius = 0});
  figure.AddScatter(0, 0, {}, {.x = mean, .y = truth, .label = "mean", .radius = 2});
  figure.AddCurve(0, 0, {}, {.x = ends, .y = ends, .label = "true = predicted"});
  return figure.Svg();
}

std::string ErrorFigure(const std::string& target, const std::vector<NumberRow>& rows) {
  const std::vector<NumberRow> drawn = Drawable(rows);
  if (drawn.empty()) return "";
  const Vector mean = Means(drawn);
  Vector ends(2);
  ends << mean.minCoeff(), mean.maxCoeff();
  Figure figure = HalfPage();
  figure.AddScatter(0, 0, {.x_label = "predicted " + Cut(target), .y_label = "true - predicted"},
                    {.x = mean, .y = Targets(drawn) - mean, .label = "error", .radius = 2});
  figure.AddCurve(0, 0, {}, {.x = ends, .y = Vector::Zero(2), .label = "no error"});
  return figure.Svg();
}

std::string ReliabilityFigure(const ClassFindings& findings) {
  const auto bins = static_cast<Index>(findings.reliability.size());
  Vector probability(bins), right(bins);
  std::vector<Index> rows;
  for (Index b = 0; b < bins; ++b) {
    const ReliabilityBin& bin = findings.reliability[static_cast<std::size_t>(b)];
    // A mean of probabilities that are 1 may be rounded beyond it.
    probability[b] = std::clamp(bin.probability, 0.0, 1.0);
    right[b] = bin.right;
    rows.push_back(bin.rows);
  }
  Figure figure = HalfPage();
  figure.AddBand(0, 0,
                 {.x_label = "promised: probability of the predicted class",
                  .y_label = "found: share of rows that are right",
                  .x_range = kShares,
                  .y_range = kShares},
                 HonestBand(probability, probability, rows));
  figure.AddScatter(0, 0, {}, {.x = probability, .y = right, .label = "this table", .radius = 4});
  return figure.Svg();
}

std::string RelevanceFigure(const std::vector<std::string>& names, const Vector& relevance) {
  const Index count = relevance.size();
  const Vector places = Vector::LinSpaced(count, static_cast<double>(count - 1), 0);
  std::vector<Tick> ticks;
  for (Index i = 0; i < count; ++i)
    ticks.push_back({places[i], Cut(names[static_cast<std::size_t>(i)])});
  const double height = std::max(80.0, 20.0 * static_cast<double>(count));
  Figure figure({.panel_width = 420, .panel_height = height});
  figure.AddErrorBars(
      0, 0,
      {.x_label = "relevance",
       .x_range = AxisRange{0, 1.03},
       .y_range = AxisRange{-0.7, static_cast<double>(count) - 0.3},
       .y_ticks = ticks},
      {.x = relevance, .y = places, .low = Vector::Zero(count), .high = relevance, .width = 6});
  return figure.Svg();
}

}  // namespace fathom::report
