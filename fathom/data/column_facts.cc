#include "fathom/data/column_facts.h"

#include <bit>
#include <cmath>

namespace fathom {

namespace {

// Of a cell and its row. A sum of these does not depend on the order of the rows, so that ranks can
// add theirs, but a cell in another row makes it another one.
std::uint64_t Mixed(std::uint64_t bits, std::uint64_t row) {
  std::uint64_t mixed = (bits ^ std::rotl(row, 32)) * 0x9E3779B97F4A7C15U + row;
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9U;
  return mixed ^ (mixed >> 32);
}

}  // namespace

TableSurvey::TableSurvey(const Table& head) : columns(head.columns.size()) {
  for (std::size_t c = 0; c < columns.size(); ++c)
    columns[c].cells_of_level.resize(head.LevelsOf(static_cast<Index>(c)).size());
}

void TableSurvey::Add(const Table& head, Index first, const Matrix& cells) {
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
      facts.hash += Mixed(bits, static_cast<std::uint64_t>(first + n));
      if (missing) continue;
      if (facts.known++ == 0) facts.first = value;
      facts.varies = facts.varies || value != facts.first;
      if (!facts.cells_of_level.empty()) ++facts.cells_of_level[static_cast<std::size_t>(value)];
      if (is_date[c] != 0) facts.dates.Add(value);
    }
  }
}

std::vector<double> TableSurvey::ToNumbers() const {
  std::vector<double> numbers = {static_cast<double>(rows)};
  for (const ColumnFacts& facts : columns) {
    numbers.insert(numbers.end(), {static_cast<double>(facts.known), facts.varies ? 1.0 : 0.0,
                                   std::bit_cast<double>(facts.hash), facts.first});
    for (const Index cells : facts.cells_of_level) numbers.push_back(static_cast<double>(cells));
    facts.dates.AppendNumbers(&numbers);
  }
  return numbers;
}

void TableSurvey::Join(std::span<const double> numbers) {
  const double* next = numbers.data();
  rows += static_cast<Index>(*next++);
  for (ColumnFacts& facts : columns) {
    const auto known = static_cast<Index>(next[0]);
    const bool differs = facts.known > 0 && known > 0 && next[3] != facts.first;
    facts.varies = facts.varies || next[1] != 0 || differs;
    facts.hash += std::bit_cast<std::uint64_t>(next[2]);
    if (facts.known == 0) facts.first = next[3];
    facts.known += known;
    next += 4;
    for (Index& cells : facts.cells_of_level) cells += static_cast<Index>(*next++);
    facts.dates.Join(DateSpan::TakeNumbers(&next));
  }
}

void TableSurvey::Clear() {
  rows = 0;
  for (ColumnFacts& facts : columns) {
    const std::size_t levels = facts.cells_of_level.size();
    facts = {};
    facts.cells_of_level.resize(levels);
  }
}

TableSurvey SurveyOf(const Table& table) {
  TableSurvey survey(table);
  survey.Add(table, 0, table.values);
  return survey;
}

}  // namespace fathom
