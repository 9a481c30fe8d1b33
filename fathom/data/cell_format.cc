#include "fathom/data/cell_format.h"

#include "fathom/base/text.h"
#include "fathom/data/csv_row.h"
#include "fathom/data/written_date.h"
#include "fathom/data/written_number.h"

namespace fathom {

bool ReadCell(const CellFormat& format, std::string_view cell, double* value) {
  switch (format.kind) {
    case CellFormat::Kind::kPlain:
      return internal::ReadPlainNumber(cell, value);
    case CellFormat::Kind::kTime:
      return internal::ReadWrittenTime(cell, value);
    case CellFormat::Kind::kDate:
      return internal::ReadWrittenDate(cell, format.day_first, value);
    case CellFormat::Kind::kNumber:
      break;
  }
  internal::WrittenNumber number;
  if (!internal::ReadWrittenNumber(cell, format.decimal, &number)) return false;
  *value = number.value;
  return number.affix.empty() || number.affix == format.affix;
}

std::string DescribeFormat(const CellFormat& format) {
  switch (format.kind) {
    case CellFormat::Kind::kPlain:
      return "numbers";
    case CellFormat::Kind::kTime:
      return "times, in hours";
    case CellFormat::Kind::kDate:
      return std::string("dates") + (format.day_first ? ", the day before the month" : "");
    case CellFormat::Kind::kNumber:
      break;
  }
  return "numbers" + (format.affix.empty() ? "" : " in " + Quoted(format.affix)) +
         (format.decimal == ',' ? " with a decimal comma" : "");
}

}  // namespace fathom
