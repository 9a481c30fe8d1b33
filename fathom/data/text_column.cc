#include "fathom/data/text_column.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/column_kinds.h"
#include "fathom/data/csv_row.h"
#include "fathom/data/levels.h"
#include "fathom/data/missing_words.h"

namespace fathom {

namespace {

constexpr double kMissingCell = std::numeric_limits<double>::quiet_NaN();

std::string_view WithoutEdgeBlanks(std::string_view text) {
  const auto blank = [](char c) { return internal::IsBlank(c, ',') || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Puts the levels in order; the column holds places in `codes`.
void OrderLevels(const internal::LevelCodes& codes, Index column, Table* table) {
  std::vector<std::vector<Index>> places;
  table->levels.resize(table->columns.size());
  table->levels[column] = internal::MergeLevels({&codes}, &places);
  for (Index n = 0; n < table->values.rows(); ++n) {
    double& value = table->values(n, column);
    if (!std::isnan(value)) value = static_cast<double>(places[0][static_cast<std::size_t>(value)]);
  }
}

double Cell(Index code) { return code < 0 ? kMissingCell : static_cast<double>(code); }

}  // namespace

void PutTexts(std::span<const std::string> texts, std::span<const Index> codes, Index column,
              Table* table) {
  FATHOM_CHECK(std::cmp_equal(codes.size(), table->values.rows()));
  constexpr Index kUnseen = -2;
  const internal::MissingWords missing;
  internal::LevelCodes levels;
  std::vector<Index> level_of(texts.size(), kUnseen);
  for (std::size_t n = 0; n < codes.size(); ++n) {
    const Index code = codes[n];
    FATHOM_CHECK(std::cmp_less(code, texts.size()));
    if (code >= 0 && level_of[code] == kUnseen) {
      const std::string_view text = WithoutEdgeBlanks(texts[code]);
      level_of[code] = missing.InText(text) ? -1 : levels.Code(text);
    }
    table->values(static_cast<Index>(n), column) = code < 0 ? kMissingCell : Cell(level_of[code]);
  }
  OrderLevels(levels, column, table);
}

namespace {

void SetFormat(const CellFormat& format, Index column, Table* table) {
  table->formats.resize(table->columns.size());
  table->formats[column] = format;
}

}  // namespace

bool PutWrittenValues(std::span<const std::string> texts, std::span<const Index> codes,
                      Index column, Table* table) {
  const internal::MissingWords missing;
  std::vector<std::string_view> cells;
  for (const std::string& text : texts) {
    const std::string_view cell = WithoutEdgeBlanks(text);
    if (!missing.InNumbers(cell)) cells.push_back(cell);
  }
  const std::optional<CellFormat> format = internal::FormatOfTexts(cells);
  if (!format) return false;
  PutWrittenValues(*format, texts, codes, column, table);
  return true;
}

void PutWrittenValues(const CellFormat& format, std::span<const std::string> texts,
                      std::span<const Index> codes, Index column, Table* table) {
  FATHOM_CHECK(std::cmp_equal(codes.size(), table->values.rows()));
  const internal::MissingWords missing;
  for (std::size_t n = 0; n < codes.size(); ++n) {
    double& value = table->values(static_cast<Index>(n), column);
    value = kMissingCell;
    if (codes[n] < 0) continue;
    const std::string_view cell = WithoutEdgeBlanks(texts[codes[n]]);
    if (missing.InNumbers(cell) || ReadCell(format, cell, &value)) continue;
    ThrowError(table->source, ": row ", n + 1, ", column ", Quoted(table->columns[column]), ": ",
               Quoted(cell), " is not written as the other cells, which are ",
               DescribeFormat(format), "; correct it, or make it missing");
  }
  SetFormat(format, column, table);
}

void PutDates(std::span<const double> days, Index column, Table* table) {
  FATHOM_CHECK(std::cmp_equal(days.size(), table->values.rows()));
  for (std::size_t n = 0; n < days.size(); ++n)
    table->values(static_cast<Index>(n), column) = days[n];
  SetFormat({.kind = CellFormat::Kind::kDate}, column, table);
}

std::string ShortestText(double number) {
  char digits[32];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  return {digits, static_cast<std::size_t>(end - digits)};
}

void NumbersToTexts(Index column, Table* table) {
  internal::LevelCodes codes;
  for (Index n = 0; n < table->values.rows(); ++n) {
    double& value = table->values(n, column);
    if (!std::isnan(value)) value = Cell(codes.Code(ShortestText(value)));
  }
  OrderLevels(codes, column, table);
}

}  // namespace fathom
