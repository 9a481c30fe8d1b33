#include "study/table_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "fathom/io/json_value.h"

namespace fathom {

namespace {

using Json = nlohmann::ordered_json;

// What there is not, such as the error of one split, is null.
Json NumberOrNull(double value) { return std::isnan(value) ? Json() : Json(ToJson(value)); }

Json MethodJson(const ScoreColumn& column) {
  Json method = {{"name", column.name}, {"published", column.published.has_value()}};
  if (column.published) {
    method["source"] = column.published->source;
    method["same_splits"] = column.published->same_splits;
    method["errors_are_deviations"] = column.published->deviations;
  }
  return method;
}

Json CellJson(const ScoreRow& row, const ScoreColumn& column, const ScoreCell& cell) {
  Json json = {{"dataset", row.dataset},
               {"unseen", row.unseen},
               {"method", column.name},
               {"mean", NumberOrNull(cell.mean)},
               {"error", NumberOrNull(cell.error)}};
  if (column.published) return json;
  json["worst"] = NumberOrNull(cell.worst);
  json["median"] = NumberOrNull(cell.median);
  json["splits"] = cell.splits;
  json["failures"] = cell.failures;
  return json;
}

Json RanksJson(const ScoreTable& table, const TableRanks& ranks) {
  const RankComparison& test = ranks.comparison;
  Json methods = Json::array();
  for (std::size_t i = 0; i < ranks.columns.size(); ++i) {
    const auto place = static_cast<Index>(i);
    methods.push_back({{"name", table.columns[ranks.columns[i]].name},
                       {"mean_rank", ToJson(test.mean[place])},
                       {"standard_error", ToJson(test.standard_error[place])}});
  }
  return {{"datasets", ranks.datasets},
          {"methods", methods},
          {"friedman_chi_square", ToJson(test.chi_square)},
          {"friedman_f", ToJson(test.f)},
          {"friedman_p_value", ToJson(test.p_value)},
          {"nemenyi_critical_difference", ToJson(test.critical_difference)}};
}

}  // namespace

Json ScoreTableJson(const ScoreTable& table) {
  Json methods = Json::array();
  for (const ScoreColumn& column : table.columns) methods.push_back(MethodJson(column));
  Json cells = Json::array();
  for (const ScoreRow& row : table.rows) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const ScoreCell& cell = row.cells[c];
      if (cell.has_value() || cell.failures > 0)
        cells.push_back(CellJson(row, table.columns[c], cell));
    }
  }
  const std::optional<TableRanks> ranks = RankTable(table);
  return {{"score", table.kind.study_key},
          {"larger_is_better", table.kind.larger_is_better()},
          {"methods", methods},
          {"cells", cells},
          {"ranks", ranks ? RanksJson(table, *ranks) : Json()}};
}

Json DetailsJson(const std::vector<UnitSummary>& units) {
  Json json = Json::array();
  for (const UnitSummary& unit : units) {
    json.push_back({{"dataset", unit.dataset},
                    {"method", unit.method},
                    {"splits", unit.log_likelihood.splits},
                    {"worst_log_likelihood", NumberOrNull(unit.log_likelihood.worst)},
                    {"median_log_likelihood", NumberOrNull(unit.log_likelihood.median)},
                    {"catastrophes", unit.catastrophes},
                    {"coverage_50", NumberOrNull(unit.coverage_50)},
                    {"coverage_95", NumberOrNull(unit.coverage_95)},
                    {"cpu_seconds", NumberOrNull(unit.cpu_seconds)},
                    {"peak_memory", NumberOrNull(unit.peak_memory)}});
  }
  return json;
}

Json FailureJson(const UnitRecord& record) {
  return {{"dataset", record.dataset},
          {"split", record.split},
          {"method", record.method},
          {"failure", record.outcome.failure.value_or("")}};
}

Json FailuresJson(const std::vector<UnitRecord>& records) {
  Json failures = Json::array();
  for (const UnitRecord& record : records) {
    if (record.failed()) failures.push_back(FailureJson(record));
  }
  return failures;
}

}  // namespace fathom
