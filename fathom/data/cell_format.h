// How the cells of a column are written, where that is not simply "12.5".
#ifndef FATHOM_DATA_CELL_FORMAT_H_
#define FATHOM_DATA_CELL_FORMAT_H_

#include <string>
#include <string_view>

#include "fathom/base/enum_names.h"
#include "fathom/base/export.h"

namespace fathom FATHOM_PUBLIC {

// Found from a whole column, kept in the schema, and used again for every table that the model
// reads.
struct CellFormat {
  enum class Kind {
    kPlain,   // a number as programs write it
    kNumber,  // a number as people write it: see written_number.h
    kTime,    // of the day, or a duration: becomes hours
    kDate,    // becomes days since 1970-01-01
  };
  Kind kind = Kind::kPlain;
  char decimal = '.';      // of kNumber: the sign before the fraction
  std::string affix = {};  // of kNumber: the unit or currency beside every number; empty: none
  bool day_first = false;  // of kDate: 2/1/2024 is in January

  bool operator==(const CellFormat&) const = default;
};

constexpr auto NamesOf(CellFormat::Kind) {
  return std::to_array<EnumName<CellFormat::Kind>>({{CellFormat::Kind::kPlain, "plain"},
                                                    {CellFormat::Kind::kNumber, "number"},
                                                    {CellFormat::Kind::kTime, "time"},
                                                    {CellFormat::Kind::kDate, "date"}});
}

// Whether the cell is written like this, and its value. A cell of kNumber may have no affix.
bool ReadCell(const CellFormat& format, std::string_view cell, double* value);

// "numbers in 'kg' with a decimal comma": what the cells hold, for people.
std::string DescribeFormat(const CellFormat& format);

}  // namespace fathom

#endif  // FATHOM_DATA_CELL_FORMAT_H_
