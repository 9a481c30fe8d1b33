// What is to be known of the columns of a table before roles are given to them, from one pass over
// its rows, be they in memory or on disk.
#ifndef FATHOM_DATA_COLUMN_FACTS_H_
#define FATHOM_DATA_COLUMN_FACTS_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fathom/data/date_parts.h"
#include "fathom/data/table.h"

namespace fathom {

struct ColumnFacts {
  Index known = 0;                    // cells that are not missing
  bool varies = false;                // two of them differ
  std::uint64_t hash = 0;             // of all cells: equal columns have equal ones
  std::vector<Index> cells_of_level;  // [levels], of a column of strings
  DateSpan dates;                     // of a column of dates
  double first = std::numeric_limits<double>::quiet_NaN();  // of the known cells
};

struct TableSurvey {
  Index rows = 0;
  std::vector<ColumnFacts> columns;

  // `head` is the table to come, whose values are not looked at.
  explicit TableSurvey(const Table& head);
  // The first row of the cells is row `first` of the table.
  void Add(const Table& head, Index first, const Matrix& cells);

  // For JoinFacts.
  std::vector<double> ToNumbers() const;
  void Join(std::span<const double> numbers);
  void Clear();
};

// Those of a table in memory.
TableSurvey SurveyOf(const Table& table);

}  // namespace fathom

#endif  // FATHOM_DATA_COLUMN_FACTS_H_
