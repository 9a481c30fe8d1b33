#include "fathom/experiment/table_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

namespace fathom {

namespace {

using Json = nlohmann::ordered_json;

std::string Fixed(double value, int decimals) {
  char buffer[60];
  std::snprintf(buffer, sizeof(buffer), "%.*f", decimals, value);
  return buffer;
}

std::string Significant(double value, int digits) {
  char buffer[60];
  std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
  return buffer;
}

std::string MarkdownRow(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
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

std::string RowName(const ScoreRow& row) {
  return row.dataset + (row.unseen ? ", unseen rows" : "");
}

std::string CellText(const ScoreCell& cell, bool is_best, Index splits) {
  std::string text;
  if (cell.has_value()) {
    text = EstimateText(cell.mean, cell.error);
    if (is_best) text = "**" + text + "**";
    if (cell.splits > 0 && cell.splits + cell.failures < splits)
      text += " (" + std::to_string(cell.splits) + ")";
  }
  if (cell.failures > 0)
    text += (text.empty() ? "" : ", ") + std::to_string(cell.failures) + " failed";
  return text;
}

Index SplitsOf(const ScoreRow& row) {
  Index splits = 0;
  for (const ScoreCell& cell : row.cells) splits = std::max(splits, cell.splits + cell.failures);
  return splits;
}

double BestOf(const ScoreRow& row, bool larger_is_better) {
  double best = larger_is_better ? -HUGE_VAL : HUGE_VAL;
  for (const ScoreCell& cell : row.cells) {
    if (!cell.has_value()) continue;
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
    cells[ranks.columns[i] + 2] = Fixed(ranks.comparison.mean[place], 2) + " ± " +
                                  Fixed(ranks.comparison.standard_error[place], 2);
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
         ". Friedman's test: χ² = " + Fixed(test.chi_square, 2) + ", F = " + Fixed(test.f, 2) +
         ", p = " + Significant(test.p_value, 2) + " for " + std::to_string(test.mean.size()) +
         " methods on " + std::to_string(ranks.datasets.size()) +
         " datasets. Nemenyi's critical difference at the level 0.05: " +
         Fixed(test.critical_difference, 2) + ". The best average rank is that of " +
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
  return "† published by others, on the same splits; ‡ on other splits, not ranked. Sources:\n\n" +
         text;
}

double MeanOf(const std::vector<Json>& lines, const std::string& score) {
  double sum = 0;
  for (const Json& line : lines) sum += line["scores"].value(score, std::nan(""));
  return sum / static_cast<double>(lines.size());
}

double MeanCost(const std::vector<Json>& lines, const char* cost) {
  double sum = 0;
  for (const Json& line : lines) sum += line.value(cost, std::nan(""));
  return sum / static_cast<double>(lines.size());
}

}  // namespace

std::string EstimateText(double mean, double error) {
  if (std::isnan(error)) return Significant(mean, 4);
  const int decimals =
      error > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 8) : 2;
  return Fixed(mean, decimals) + " ± " + Fixed(error, decimals);
}

std::string MarkdownTable(const ScoreTable& table) {
  std::vector<std::string> names = {"dataset", "splits"};
  for (const ScoreColumn& column : table.columns) names.push_back(MarkedName(column));
  std::string text = MarkdownHeader(names);
  for (const ScoreRow& row : table.rows) {
    const double best = BestOf(row, table.kind.larger_is_better);
    const Index splits = SplitsOf(row);
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
  const auto number = [](double value) { return std::isnan(value) ? "" : Significant(value, 10); };
  for (const ScoreRow& row : table.rows) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const ScoreCell& cell = row.cells[c];
      const auto& published = table.columns[c].published;
      if (!cell.has_value() && cell.failures == 0) continue;
      const std::string origin = !published               ? ""
                                 : published->same_splits ? "same splits"
                                                          : "other splits";
      const std::string kind = published && published->deviations ? "sd" : "se";
      text += CsvQuoted(row.dataset) + "," + (row.unseen ? "unseen" : "all") + "," +
              CsvQuoted(table.columns[c].name) + "," + origin + "," + number(cell.mean) + "," +
              number(cell.error) + "," + (std::isnan(cell.error) ? "" : kind) + "," +
              (published ? "" : std::to_string(cell.splits)) + "," +
              (published ? "" : std::to_string(cell.failures)) + "," + number(cell.worst) + "," +
              number(cell.median) + "\n";
    }
  }
  return text;
}

std::string MarkdownDetails(const std::vector<Json>& results) {
  std::set<std::pair<std::string, std::string>> pairs;
  bool has_coverage = false;
  for (const Json& line : results) {
    if (!line.contains("scores")) continue;
    pairs.emplace(line["dataset"].get<std::string>(), line["method"].get<std::string>());
    has_coverage = has_coverage || line["scores"].contains("coverage_95");
  }
  std::vector<std::string> names = {"dataset", "method", "worst log likelihood", "median"};
  if (has_coverage) names.insert(names.end(), {"coverage 50 %", "coverage 95 %"});
  names.insert(names.end(), {"CPU s", "peak MB"});
  std::string text = MarkdownHeader(names);
  for (const auto& [dataset, method] : pairs) {
    std::vector<Json> lines;
    std::copy_if(results.begin(), results.end(), std::back_inserter(lines), [&](const Json& line) {
      return line["dataset"] == dataset && line["method"] == method && line.contains("scores");
    });
    const ScoreTable table = MakeScoreTable(lines, {}, {"log_likelihood", "", true});
    const ScoreCell& cell = table.rows.front().cells.front();
    const std::string worst = Fixed(cell.worst, 3);
    std::vector<std::string> cells = {dataset, method,
                                      cell.worst < cell.median - 1 ? "**" + worst + "**" : worst,
                                      Fixed(cell.median, 3)};
    if (has_coverage) {
      for (const char* score : {"coverage_50", "coverage_95"})
        cells.push_back(Fixed(100 * MeanOf(lines, score), 1));
    }
    cells.push_back(Significant(MeanCost(lines, "cpu_seconds"), 3));
    cells.push_back(Fixed(MeanCost(lines, "peak_memory") / 1e6, 0));
    text += MarkdownRow(cells);
  }
  return text;
}

std::string MarkdownFailures(const std::vector<Json>& results) {
  std::string rows;
  for (const Json& line : results) {
    if (!line.contains("failure")) continue;
    auto reason = line["failure"].get<std::string>();
    for (std::size_t at = reason.find('|'); at != std::string::npos; at = reason.find('|', at + 2))
      reason.replace(at, 1, "\\|");
    rows += MarkdownRow(
        {line["dataset"], std::to_string(line["split"].get<long>()), line["method"], reason});
  }
  return rows.empty() ? rows : MarkdownHeader({"dataset", "split", "method", "reason"}) + rows;
}

}  // namespace fathom
