#include "fathom/data/csv_row.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/role_error.h"

namespace fathom::internal {

void ThrowRagged(const CsvLayout& layout, Index line, Index found) {
  const auto expected = static_cast<Index>(layout.names.size());
  const bool comma = found > expected && layout.separator == ',';
  ThrowError(layout.source, ": line ", line, " has ", found, found == 1 ? " field" : " fields",
             layout.named ? " but the header names " : " but the first line has ", expected,
             !layout.named   ? ""
             : expected == 1 ? " column"
                             : " columns",
             "; give every line as many fields", layout.named ? " as the header" : "",
             comma ? ", and numbers a decimal point, not a comma" : "");
}

namespace {

enum class Number { kGood, kNotFinite, kNone };

// The whole of `text`, which has no blanks around it.
Number ParseNumber(std::string_view text, double* value) {
  const char* begin = text.data();
  const char* const end = begin + text.size();
  if (begin != end && *begin == '+') {
    ++begin;
    if (begin != end && *begin == '-') return Number::kNone;
  }
  auto [stop, problem] = std::from_chars(begin, end, *value);
  if (problem == std::errc::invalid_argument || stop != end) return Number::kNone;
  // An "inf" must not go on: libstdc++'s from_chars for long double reads beyond its end.
  if (problem == std::errc()) return std::isfinite(*value) ? Number::kGood : Number::kNotFinite;
  // Too large and too small are one error code; the wider exponent of long double tells them apart.
  long double wide = 0;
  const auto [wide_stop, wide_problem] = std::from_chars(begin, end, wide);
  if (wide_problem != std::errc() || !(std::abs(wide) < 1)) return Number::kNotFinite;
  *value = static_cast<double>(wide);
  return Number::kGood;
}

Index CountFields(const char* begin, const char* end, char separator) {
  Index count = 1;
  for (const char* p = ReadField(begin, end, separator).next; p != end; ++count) {
    p = ReadField(p + 1, end, separator).next;
  }
  return count;
}

// The line that is read, without its newline.
struct Line {
  const CsvLayout& layout;
  const char *begin, *end;
  Index number;
};

// Says why the field is not a number, or not one that we take.
[[noreturn]] void ThrowBadCell(const Line& line, Index column, const CsvField& field, Number kind) {
  const std::string place = line.layout.source + ": line " + std::to_string(line.number) +
                            ", column " + Quoted(line.layout.names[column]) + ": ";
  const std::string value = Quoted(field.text);
  if (field.problem) ThrowError(place, field.problem, " in ", value, "; mend the quotes");
  if (kind == Number::kNotFinite) {
    ThrowError(place, value,
               " is not a finite number; leave the cell empty if its value is unknown");
  }
  const CellFormat& format = line.layout.formats[column];
  if (format.kind != CellFormat::Kind::kPlain) {
    throw RoleError(place + value + " is not written as the other cells, which are " +
                        DescribeFormat(format) + "; correct it, or declare it missing",
                    "missing", std::string(field.text));
  }
  if (IsNumberWithComma(field.text)) {
    throw RoleError(place + value +
                        " has a comma in it where other cells have a decimal point; correct it, or "
                        "say which of the two is before the fraction",
                    "decimal", "comma");
  }
  throw RoleError(place + value +
                      " is not a number; correct it, or leave the cell empty if its value is "
                      "unknown; a column of names must be ignored, declared categorical or, as the "
                      "target, classified",
                  "task", "classify");
}

// Reads a cell that is not simply a number up to the separator. Returns where it ends.
const char* ParseUnusualCell(const Line& line, const char* cell, Index column, double* value) {
  const CsvLayout& layout = line.layout;
  const CsvField field = ReadField(cell, line.end, layout.separator);
  if (!field.problem) {
    if (layout.missing.InNumbers(field.text)) {
      *value = std::numeric_limits<double>::quiet_NaN();
      return field.next;
    }
    const CellFormat& format = layout.formats[column];
    const bool plain = format.kind == CellFormat::Kind::kPlain;
    const bool read =
        plain ? ReadPlainNumber(field.text, value) : ReadCell(format, field.text, value);
    if (read) return field.next;
    if (layout.anything[column]) {
      *value = std::numeric_limits<double>::quiet_NaN();
      return field.next;
    }
    const Number kind = ParseNumber(field.text, value);
    // In a line with too many or too few fields the wrong text is the lesser fault.
    const Index found = CountFields(line.begin, line.end, layout.separator);
    if (found != static_cast<Index>(layout.names.size())) ThrowRagged(layout, line.number, found);
    ThrowBadCell(line, column, field, kind);
  }
  ThrowBadCell(line, column, field, Number::kNone);
}

[[noreturn]] void ThrowWrongCount(const Line& line) {
  const CsvLayout& layout = line.layout;
  if (std::all_of(line.begin, line.end, [&](char c) { return IsBlank(c, layout.separator); })) {
    ThrowError(layout.source, ": line ", line.number, " is blank; delete it");
  }
  ThrowRagged(layout, line.number, CountFields(line.begin, line.end, layout.separator));
}

// Reads a cell of a text column. Returns where it ends.
const char* ParseTextCell(const Line& line, const char* cell, Index column, LevelCodes* levels,
                          double* value) {
  const CsvField field = ReadField(cell, line.end, line.layout.separator);
  if (field.problem) ThrowBadCell(line, column, field, Number::kNone);
  Index code = -1;
  if (!line.layout.missing.InText(field.text)) {
    const bool plain = !field.quoted || field.text.find('"') == std::string_view::npos;
    code = plain ? levels->Code(field.text) : levels->Code(Unescape(field));
  }
  *value = code < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(code);
  return field.next;
}

}  // namespace

bool IsNumberWithComma(std::string_view text) {
  std::string without(text);
  std::replace(without.begin(), without.end(), ',', '0');
  double ignored = 0;
  return without != text && ParseNumber(without, &ignored) == Number::kGood;
}

CsvField ReadField(const char* begin, const char* end, char separator) {
  const auto skip_blanks = [&](const char* p) {
    while (p != end && IsBlank(*p, separator)) ++p;
    return p;
  };
  const auto is_end = [&](const char* p) { return p == end || *p == separator || *p == '\n'; };
  CsvField field;
  const char* p = skip_blanks(begin);
  const char* first = p;
  if (p != end && *p == '"') {
    field.quoted = true;
    first = ++p;
    while (p != end && (*p != '"' || (p + 1 != end && p[1] == '"'))) p += *p == '"' ? 2 : 1;
    if (p == end) {
      field.problem = "a quote is never closed";
      field.text = {first, static_cast<std::size_t>(end - first)};
      field.next = end;
      return field;
    }
    const char* last = p;
    p = skip_blanks(p + 1);
    if (!is_end(p)) {
      field.problem = "text follows the closing quote";
      while (!is_end(p)) ++p;
      last = p;
    }
    field.text = {first, static_cast<std::size_t>(last - first)};
  } else {
    while (!is_end(p)) ++p;
    field.text = {first, static_cast<std::size_t>(p - first)};
  }
  field.next = p;
  const auto blank = [&](char c) { return IsBlank(c, separator) || c == '\n'; };
  while (!field.text.empty() && blank(field.text.front())) field.text.remove_prefix(1);
  while (!field.text.empty() && blank(field.text.back())) field.text.remove_suffix(1);
  return field;
}

std::string Unescape(const CsvField& field) {
  if (!field.quoted) return std::string(field.text);
  std::string text;
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    if (field.text.substr(i, 2) == "\"\"") ++i;
    text += field.text[i];
  }
  return text;
}

void ParseRow(const CsvLayout& layout, const char* begin, const char* end, Index line,
              std::vector<LevelCodes>* levels, double* row) {
  const Line here{layout, begin, end, line};
  const char separator = layout.separator;
  const std::size_t columns = layout.names.size();
  const bool sentinels = layout.missing.has_numbers();
  const char* p = begin;
  for (std::size_t c = 0; c < columns; ++c) {
    if (c > 0) {
      if (p == end) ThrowWrongCount(here);
      ++p;
    }
    const Index destination = layout.destinations[c];
    if (destination < 0) {
      p = ReadField(p, end, separator).next;
      continue;
    }
    if (layout.text[c]) {
      p = ParseTextCell(here, p, static_cast<Index>(c), &(*levels)[destination], &row[destination]);
      continue;
    }
    const char* const cell = p;
    while (p != end && IsBlank(*p, separator)) ++p;
    double value = 0;
    // The common cell, a plain number, is parsed without looking for its end first.
    const auto [stop, problem] = std::from_chars(p, end, value);
    p = stop;
    while (p != end && IsBlank(*p, separator)) ++p;
    if (problem != std::errc() || !std::isfinite(value) || (p != end && *p != separator) ||
        layout.written[c]) {
      p = ParseUnusualCell(here, cell, static_cast<Index>(c), &value);
    }
    if (sentinels && layout.missing.IsMissing(value))
      value = std::numeric_limits<double>::quiet_NaN();
    row[destination] = value;
  }
  if (p != end) ThrowWrongCount(here);
}

bool ReadPlainNumber(std::string_view text, double* value) {
  return ParseNumber(text, value) == Number::kGood;
}

bool IsNumber(std::string_view text) {
  double value = 0;
  return ParseNumber(text, &value) != Number::kNone && !std::isnan(value);
}

}  // namespace fathom::internal
