#include "study/table_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "fathom/base/text.h"

namespace fathom {

namespace {

constexpr double kCatastrophe = 1;  // nats below the median split

std::string WithDecimals(double value, int decimals) {
  char buffer[60];
  std::snprintf(buffer, sizeof(buffer), "%.*f", decimals, value);
  return buffer;
}

std::string Significant(double value, int digits) {
  char buffer[60];
  std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
  return buffer;
}

std::string Bold(const std::string& text) { return std::string("**").append(text).append("**"); }

// Names come from files of others: none may end its cell, or be taken for a tag.
std::string MarkdownCell(const std::string& text) {
  std::string cell;
  for (const char c : Visible(text)) {
    if (c == '|') cell += '\\';
    cell += c == '<' ? "&lt;" : std::string(1, c);
  }
  return cell;
}

std::string MarkdownRow(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + MarkdownCell(cell) + " |";
  return line + "\n";
}

std::string MarkdownHeader(const std::vector<std::string>& names) {
  return MarkdownRow(names) + MarkdownRow(std::vector<std::string>(names.size(), "---"));
}

std::string CsvQuoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string CsvRow(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += CsvQuoted(cell) + ",";
  line.back() = '\n';
  return line;
}

std::string RowName(const ScoreRow& row) {
  return row.dataset + (row.unseen ? ", unseen rows" : "");
}

std::string CellText(const ScoreCell& cell, bool is_best, Index splits) {
  std::string text;
  if (cell.has_value()) {
    text = cell.splits > 0 ? EstimateText(cell.mean, cell.error)
                           : PublishedText(cell.mean, cell.error);
    if (is_best) text = Bold(text);
    if (!cell.reachable) text += " §";
    if (cell.splits > 0 && cell.splits + cell.failures < splits)
      text += " (" + std::to_string(cell.splits) + ")";
  }
  if (cell.failures > 0)
    text += (text.empty() ? "" : ", ") + std::to_string(cell.failures) + " failed";
  return text;
}

// Looks only at the cells that can be compared.
double BestOf(const ScoreRow& row, bool larger_is_better) {
  double best = larger_is_better ? -HUGE_VAL : HUGE_VAL;
  for (const ScoreCell& cell : row.cells) {
    if (!cell.has_value() || cell.failures > 0 || !cell.reachable || !row.IsWhole(cell)) continue;
    best = larger_is_better ? std::max(best, cell.mean) : std::min(best, cell.mean);
  }
  return best;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string RanksRow(const ScoreTable& table, const TableRanks& ranks) {
  std::vector<std::string> cells(table.columns.size() + 2);
  cells[0] = "average rank";
  for (std::size_t i = 0; i < ranks.columns.size(); ++i) {
    const auto place = static_cast<Index>(i);
    cells[ranks.columns[i] + 2] = WithDecimals(ranks.comparison.mean[place], 2) + " ± " +
                                  WithDecimals(ranks.comparison.standard_error[place], 2);
  }
  return MarkdownRow(cells);
}

std::string TestsText(const ScoreTable& table, const TableRanks& ranks) {
  const RankComparison& test = ranks.comparison;
  const auto best = std::min_element(test.mean.begin(), test.mean.end()) - test.mean.begin();
  std::vector<std::string> equals;
  for (Index i = 0; i < test.mean.size(); ++i) {
    if (i != best && test.mean[i] - test.mean[best] < test.critical_difference)
      equals.push_back(table.columns[ranks.columns[static_cast<std::size_t>(i)]].name);
  }
  return "Ranks over " + Listed(ranks.datasets) +
         ". Friedman's test: χ² = " + WithDecimals(test.chi_square, 2) +
         ", F = " + WithDecimals(test.f, 2) + ", p = " + Significant(test.p_value, 2) + " for " +
         std::to_string(test.mean.size()) + " methods on " + std::to_string(ranks.datasets.size()) +
         " datasets. Nemenyi's critical difference at the level 0.05: " +
         WithDecimals(test.critical_difference, 2) + ". The best average rank is that of " +
         table.columns[ranks.columns[static_cast<std::size_t>(best)]].name +
         (equals.empty() ? "; all others differ from it.\n"
                         : "; not different from it at this level: " + Listed(equals) + ".\n");
}

std::string SourcesText(const ScoreTable& table) {
  std::string text;
  for (const ScoreColumn& column : table.columns) {
    if (!column.published) continue;
    text += "- " + MarkedName(column) + ": " + column.published->source +
            (column.published->deviations ? " (± standard deviation over splits)" : "") + "\n";
  }
  if (text.empty()) return text;
  const bool unreachable =
      std::any_of(table.rows.begin(), table.rows.end(), [](const ScoreRow& row) {
        return std::any_of(row.cells.begin(), row.cells.end(),
                           [](const ScoreCell& cell) { return !cell.reachable; });
      });
  return std::string("† published by others, on the same splits; ‡ on other splits, not ranked") +
         (unreachable ? "; § no honest test has come near it, before or since" : "") +
         ". Sources:\n\n" + text;
}

// NaN is written as nothing.
std::string Number(double value) { return std::isnan(value) ? "" : Significant(value, 10); }
std::string Percent(double share) { return std::isnan(share) ? "" : WithDecimals(100 * share, 1); }

UnitSummary SummarizeUnit(const std::vector<UnitRecord>& records) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto splits = static_cast<double>(records.size());
  const ScoreTable table = MakeScoreTable(records, {}, *FindScore("log_likelihood"));
  UnitSummary unit{records.front().dataset, records.front().method, {}};
  if (!table.rows.empty()) unit.log_likelihood = table.rows.front().cells.front();
  for (const UnitRecord& record : records) {
    const UnitScores& scores = *record.outcome.scores;
    unit.catastrophes += scores.Get("log_likelihood") < unit.log_likelihood.median - kCatastrophe;
    unit.coverage_50 += scores.Get("coverage_50") / splits;
    unit.coverage_95 += scores.Get("coverage_95") / splits;
    unit.cpu_seconds += record.cpu_seconds.value_or(kNaN) / splits;
    unit.peak_memory +=
        (record.peak_memory ? static_cast<double>(*record.peak_memory) : kNaN) / splits;
  }
  return unit;
}

}  // namespace

std::string EstimateText(double mean, double error) {
  if (std::isnan(error)) return Significant(mean, 4);
  const int decimals =
      error > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 8) : 2;
  return WithDecimals(mean, decimals) + " ± " + WithDecimals(error, decimals);
}

std::string PublishedText(double mean, double error) {
  constexpr int kLeast = 2;
  constexpr int kMost = 8;
  // The fewest decimals that say the same number.
  const auto decimals_of = [](double value) {
    int decimals = kLeast;
    while (decimals < kMost && std::stod(WithDecimals(value, decimals)) != value) ++decimals;
    return decimals;
  };
  if (std::isnan(error)) return WithDecimals(mean, decimals_of(mean));
  const int decimals = std::max(decimals_of(mean), decimals_of(error));
  return WithDecimals(mean, decimals) + " ± " + WithDecimals(error, decimals);
}

std::string MarkdownTable(const ScoreTable& table) {
  std::vector<std::string> names = {"dataset", "splits"};
  for (const ScoreColumn& column : table.columns) names.push_back(MarkedName(column));
  std::string text = MarkdownHeader(names);
  for (const ScoreRow& row : table.rows) {
    const double best = BestOf(row, table.kind.larger_is_better());
    const Index splits = row.splits();
    std::vector<std::string> cells = {RowName(row), std::to_string(splits)};
    for (const ScoreCell& cell : row.cells)
      cells.push_back(CellText(cell, cell.mean == best, splits));
    text += MarkdownRow(cells);
  }
  const std::optional<TableRanks> ranks = RankTable(table);
  if (ranks) text += RanksRow(table, *ranks) + "\n" + TestsText(table, *ranks);
  const std::string sources = SourcesText(table);
  return text + (sources.empty() ? "" : "\n" + sources);
}

std::string CsvTable(const ScoreTable& table) {
  std::string text =
      "dataset,rows,method,published,mean,error,error_kind,splits,failures,worst,median\n";
  for (const ScoreRow& row : table.rows) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const ScoreCell& cell = row.cells[c];
      const auto& published = table.columns[c].published;
      if (!cell.has_value() && cell.failures == 0) continue;
      const std::string kind = published && published->deviations ? "sd" : "se";
      text += CsvRow({row.dataset, row.unseen ? "unseen" : "all", table.columns[c].name,
                      !published               ? ""
                      : published->same_splits ? "same splits"
                                               : "other splits",
                      Number(cell.mean), Number(cell.error), std::isnan(cell.error) ? "" : kind,
                      published ? "" : std::to_string(cell.splits),
                      published ? "" : std::to_string(cell.failures), Number(cell.worst),
                      Number(cell.median)});
    }
  }
  return text;
}

std::vector<UnitSummary> SummarizeUnits(const std::vector<UnitRecord>& records) {
  std::map<std::pair<std::string, std::string>, std::vector<UnitRecord>> by_unit;
  for (const UnitRecord& record : records) {
    if (record.outcome.scores) by_unit[{record.dataset, record.method}].push_back(record);
  }
  std::vector<UnitSummary> units;
  for (const auto& [key, of_unit] : by_unit) units.push_back(SummarizeUnit(of_unit));
  return units;
}

std::string MarkdownMethods(const std::vector<UnitSummary>& units) {
  std::map<std::string, std::vector<UnitSummary>> methods;
  for (const UnitSummary& unit : units) methods[unit.method].push_back(unit);
  std::string text = MarkdownHeader({"method", "datasets", "coverage 50 %", "coverage 95 %",
                                     "splits 1 nat below the median", "CPU hours"});
  for (const auto& [method, datasets] : methods) {
    const auto count = static_cast<double>(datasets.size());
    double coverage_50 = 0;
    double coverage_95 = 0;
    double seconds = 0;
    Index catastrophes = 0;
    for (const UnitSummary& unit : datasets) {
      coverage_50 += unit.coverage_50 / count;
      coverage_95 += unit.coverage_95 / count;
      seconds += unit.cpu_seconds * static_cast<double>(unit.log_likelihood.splits);
      catastrophes += unit.catastrophes;
    }
    text += MarkdownRow({method, std::to_string(datasets.size()), Percent(coverage_50),
                         Percent(coverage_95), std::to_string(catastrophes),
                         WithDecimals(seconds / 3600, 2)});
  }
  return text;
}

std::string MarkdownDetails(const std::vector<UnitSummary>& units) {
  std::string text =
      MarkdownHeader({"dataset", "method", "splits", "worst log likelihood", "median",
                      "coverage 50 %", "coverage 95 %", "CPU s", "peak MB"});
  for (const UnitSummary& unit : units) {
    const std::string worst = WithDecimals(unit.log_likelihood.worst, 3);
    text += MarkdownRow({unit.dataset, unit.method, std::to_string(unit.log_likelihood.splits),
                         unit.catastrophes > 0 ? Bold(worst) : worst,
                         WithDecimals(unit.log_likelihood.median, 3), Percent(unit.coverage_50),
                         Percent(unit.coverage_95), Significant(unit.cpu_seconds, 3),
                         WithDecimals(unit.peak_memory / 1e6, 0)});
  }
  return text;
}

std::string CsvDetails(const std::vector<UnitSummary>& units) {
  std::string text =
      "dataset,method,splits,worst_log_likelihood,median_log_likelihood,catastrophes,coverage_50,"
      "coverage_95,cpu_seconds,peak_memory\n";
  for (const UnitSummary& unit : units) {
    text += CsvRow({unit.dataset, unit.method, std::to_string(unit.log_likelihood.splits),
                    Number(unit.log_likelihood.worst), Number(unit.log_likelihood.median),
                    std::to_string(unit.catastrophes), Number(unit.coverage_50),
                    Number(unit.coverage_95), Number(unit.cpu_seconds), Number(unit.peak_memory)});
  }
  return text;
}

std::string MarkdownFailures(const std::vector<UnitRecord>& records) {
  std::string rows;
  for (const UnitRecord& record : records) {
    if (!record.failed()) continue;
    rows += MarkdownRow(
        {record.dataset, std::to_string(record.split), record.method, *record.outcome.failure});
  }
  return rows.empty() ? rows : MarkdownHeader({"dataset", "split", "method", "reason"}) + rows;
}

}  // namespace fathom
