#include "fathom/data/column_facts.h"

#include <bit>
#include <cmath>

namespace fathom {

TableSurvey::TableSurvey(const Table& head) : columns(head.columns.size()) {
  for (std::size_t c = 0; c < columns.size(); ++c)
    columns[c].cells_of_level.resize(head.LevelsOf(static_cast<Index>(c)).size());
}

void TableSurvey::Add(const Table& head, const Matrix& cells) {
  rows += cells.rows();
  std::vector<char> is_date(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c)
    is_date[c] = head.FormatOf(static_cast<Index>(c)).kind == CellFormat::Kind::kDate ? 1 : 0;
  // In the order of memory.
  for (Index n = 0; n < cells.rows(); ++n) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      ColumnFacts& facts = columns[c];
      const double value = cells(n, static_cast<Index>(c));
      const bool missing = std::isnan(value);
      // All NaN are one, and so are the two zeros.
      const std::uint64_t bits = missing ? 1 : std::bit_cast<std::uint64_t>(value + 0.0);
      facts.hash = (std::rotl(facts.hash, 5) ^ bits) * 0x9E3779B97F4A7C15U;
      if (missing) continue;
      if (facts.known++ == 0) facts.first = value;
      facts.varies = facts.varies || value != facts.first;
      if (!facts.cells_of_level.empty()) ++facts.cells_of_level[static_cast<std::size_t>(value)];
      if (is_date[c] != 0) facts.dates.Add(value);
    }
  }
}

TableSurvey SurveyOf(const Table& table) {
  TableSurvey survey(table);
  survey.Add(table, table.values);
  return survey;
}

}  // namespace fathom
