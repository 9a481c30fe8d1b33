#include "study/score_table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace fathom {

namespace {

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

ScoreCell Summarize(const std::vector<double>& values, Index failures, bool larger_is_better) {
  ScoreCell cell;
  cell.splits = static_cast<Index>(values.size());
  cell.failures = failures;
  if (values.empty()) return cell;
  const Eigen::Map<const Vector> scores(values.data(), cell.splits);
  cell.mean = scores.mean();
  if (cell.splits > 1) {
    const auto n = static_cast<double>(cell.splits);
    cell.error = std::sqrt((scores.array() - cell.mean).square().sum() / (n - 1) / n);
  }
  cell.worst = larger_is_better ? scores.minCoeff() : scores.maxCoeff();
  cell.median = Median(values);
  return cell;
}

// The scores of one part of the test rows, if the record has them.
const std::optional<UnitScores>& PartOf(const UnitRecord& record, bool unseen) {
  return unseen ? record.outcome.unseen : record.outcome.scores;
}

bool HasScore(const UnitRecord& record, bool unseen, const ScoreKind& kind) {
  const std::optional<UnitScores>& scores = PartOf(record, unseen);
  return scores && scores->Has(kind);
}

// The scores of the splits of one method on the dataset of the row.
ScoreCell CellOf(const std::vector<UnitRecord>& records, const ScoreRow& row,
                 const std::string& method, const ScoreKind& kind) {
  std::vector<double> values;
  Index failures = 0;
  for (const UnitRecord& record : records) {
    if (record.dataset != row.dataset || record.method != method) continue;
    failures += record.failed();
    if (HasScore(record, row.unseen, kind)) values.push_back(PartOf(record, row.unseen)->Get(kind));
  }
  return Summarize(values, failures, kind.larger_is_better());
}

ScoreCell PublishedCell(const PublishedMethod& method, const std::string& score,
                        const std::string& dataset) {
  ScoreCell cell;
  const auto of_score = method.scores.find(score);
  if (of_score == method.scores.end()) return cell;
  const auto found = of_score->second.find(dataset);
  if (found == of_score->second.end()) return cell;
  cell.mean = found->second.mean;
  cell.error = found->second.error;
  cell.reachable = found->second.reachable;
  return cell;
}

void AddPublished(const std::vector<PublishedMethod>& published, ScoreTable* table) {
  for (const PublishedMethod& method : published) {
    std::vector<ScoreCell> cells;
    for (const ScoreRow& row : table->rows)
      cells.push_back(row.unseen ? ScoreCell()
                                 : PublishedCell(method, table->kind.study_key, row.dataset));
    if (std::none_of(cells.begin(), cells.end(), [](const ScoreCell& c) { return c.has_value(); }))
      continue;
    table->columns.push_back({method.name, method});
    for (std::size_t row = 0; row < cells.size(); ++row)
      table->rows[row].cells.push_back(cells[row]);
  }
}

}  // namespace

std::string MarkedName(const ScoreColumn& column) {
  if (!column.published) return column.name;
  return column.name + (column.published->same_splits ? " †" : " ‡");
}

ScoreTable MakeScoreTable(const std::vector<UnitRecord>& records,
                          const std::vector<PublishedMethod>& published, const ScoreKind& kind) {
  std::set<std::string> methods;
  std::set<std::pair<std::string, bool>> rows;
  for (const UnitRecord& record : records) {
    methods.insert(record.method);
    // What only ever failed has a row too.
    if (HasScore(record, false, kind) || record.failed()) rows.emplace(record.dataset, false);
    if (HasScore(record, true, kind)) rows.emplace(record.dataset, true);
  }
  ScoreTable table{kind, {}, {}};
  for (const std::string& method : methods) table.columns.push_back({method, {}});
  for (const auto& [dataset, unseen] : rows) {
    ScoreRow row{dataset, unseen, {}};
    for (const std::string& method : methods)
      row.cells.push_back(CellOf(records, row, method, kind));
    table.rows.push_back(std::move(row));
  }
  std::vector<PublishedMethod> beside = published;
  std::erase_if(beside, [&](const PublishedMethod& method) {
    return !method.study.empty() &&
           std::none_of(records.begin(), records.end(),
                        [&](const UnitRecord& record) { return record.study == method.study; });
  });
  AddPublished(beside, &table);
  return table;
}

ScoreTable OnlyColumns(const ScoreTable& table, const std::vector<std::string>& names) {
  ScoreTable part{table.kind, {}, {}};
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (std::count(names.begin(), names.end(), table.columns[c].name) == 0) continue;
    places.push_back(c);
    part.columns.push_back(table.columns[c]);
  }
  for (const ScoreRow& row : table.rows) {
    ScoreRow& copy = part.rows.emplace_back(ScoreRow{row.dataset, row.unseen, {}});
    for (const std::size_t place : places) copy.cells.push_back(row.cells[place]);
  }
  return part;
}

Index ScoreRow::splits() const {
  Index most = 0;
  for (const ScoreCell& cell : cells) most = std::max(most, cell.splits + cell.failures);
  return most;
}

std::optional<TableRanks> RankTable(const ScoreTable& table) {
  std::vector<const ScoreRow*> rows;
  for (const ScoreRow& row : table.rows) {
    if (!row.unseen) rows.push_back(&row);
  }
  const auto counts = [](const ScoreRow& row, std::size_t column) {
    const ScoreCell& cell = row.cells[column];
    return (cell.has_value() || cell.failures > 0) && row.IsWhole(cell);
  };
  TableRanks ranks;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto& published = table.columns[c].published;
    if (published && (!published->same_splits || !published->study.empty())) continue;
    const auto present = std::count_if(rows.begin(), rows.end(),
                                       [&](const ScoreRow* row) { return counts(*row, c); });
    if (3 * static_cast<std::size_t>(present) >= 2 * rows.size()) ranks.columns.push_back(c);
  }
  std::erase_if(rows, [&](const ScoreRow* row) {
    return !std::all_of(ranks.columns.begin(), ranks.columns.end(),
                        [&](std::size_t c) { return counts(*row, c); });
  });
  if (ranks.columns.size() < 2 || rows.size() < 2) return {};
  Matrix scores(static_cast<Index>(rows.size()), static_cast<Index>(ranks.columns.size()));
  const double last = table.kind.larger_is_better() ? -HUGE_VAL : HUGE_VAL;
  for (Index r = 0; r < scores.rows(); ++r) {
    const ScoreRow& row = *rows[static_cast<std::size_t>(r)];
    ranks.datasets.push_back(row.dataset);
    for (Index c = 0; c < scores.cols(); ++c) {
      const ScoreCell& cell = row.cells[ranks.columns[static_cast<std::size_t>(c)]];
      scores(r, c) = cell.failures > 0 ? last : cell.mean;
    }
  }
  ranks.comparison = CompareRanks(RankRows(scores, table.kind.larger_is_better()));
  return ranks;
}

}  // namespace fathom
