// Columns of strings in a table whose cells are in memory already.
#ifndef FATHOM_DATA_TEXT_COLUMN_H_
#define FATHOM_DATA_TEXT_COLUMN_H_

#include <span>
#include <string>
#include <vector>

#include "fathom/data/table.h"

namespace fathom {

// Makes column `column` of *table one of strings, exactly as a CSV file with these cells would:
// blanks around a string do not count, one that stands for a missing cell ("", "NA", "?") is one,
// only strings that occur are levels, and these are in the order of levels.h. codes [N] are places
// in `texts`, -1 where a cell is missing.
void PutTexts(std::span<const std::string> texts, std::span<const Index> codes, Index column,
              Table* table);

// Makes numbers of the strings instead, where a CSV file with these cells would: dates, times, and
// numbers as people write them. False, and nothing changes, where they are names.
bool PutWrittenValues(std::span<const std::string> texts, std::span<const Index> codes,
                      Index column, Table* table);
// The same in the format that a model has learnt. Throws Error for the first cell that is written
// in another way.
void PutWrittenValues(const CellFormat& format, std::span<const std::string> texts,
                      std::span<const Index> codes, Index column, Table* table);
// Days since 1970-01-01, NaN where missing.
void PutDates(std::span<const double> days, Index column, Table* table);

// Makes strings of the numbers of a column, in the fewest digits, as a CSV file would have them.
void NumbersToTexts(Index column, Table* table);

// A number in the fewest digits that read back as the same bits: "3", "0.1".
std::string ShortestText(double number);

}  // namespace fathom

#endif  // FATHOM_DATA_TEXT_COLUMN_H_
