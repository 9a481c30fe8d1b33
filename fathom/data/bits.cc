#include "fathom/data/bits.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/csv.h"
#include "fathom/data/missing_words.h"
#include "fathom/data/npy.h"

namespace fathom {

namespace {

constexpr char kBetween = ':';  // a column and the number of a bit

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view WithoutPrefix(std::string_view cell) {
  if (cell.starts_with("0x") || cell.starts_with("0X")) cell.remove_prefix(2);
  return cell;
}

// A column of cells that are not missing.
struct Digits {
  std::size_t length = 0;  // of the first
  bool binary = true;      // nothing but 0 and 1
  Index per_digit() const { return binary ? 1 : 4; }
};

Digits LookAt(const BitColumn& column, const std::vector<std::string>& cells,
              const internal::MissingWords& words) {
  // So many sparse hexadecimal digits, too, would hardly all be 0 or 1.
  constexpr std::size_t kLeastBinary = 32;
  Digits digits;
  for (const std::string& cell : cells) {
    if (words.InText(cell)) continue;
    const std::string_view text = WithoutPrefix(cell);
    if (digits.length == 0) digits.length = text.size();
    if (text.size() != cell.size() || text.find_first_not_of("01") != std::string_view::npos)
      digits.binary = false;
  }
  if (digits.length < kLeastBinary || column.needed > static_cast<Index>(digits.length))
    digits.binary = false;
  return digits;
}

// [rows, bits]
Matrix ParseBits(const std::string& source, const BitColumn& column,
                 const std::vector<std::string>& cells, const internal::MissingWords& words) {
  const Digits digits = LookAt(column, cells, words);
  if (digits.length == 0)
    ThrowError(source, ": column ", Quoted(column.name), ": all its cells are missing");
  const Index per_digit = digits.per_digit();
  Matrix bits(static_cast<Index>(cells.size()), per_digit * static_cast<Index>(digits.length));
  for (std::size_t n = 0; n < cells.size(); ++n) {
    auto row = bits.row(static_cast<Index>(n));
    if (words.InText(cells[n])) {
      row.setConstant(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const std::string_view cell = WithoutPrefix(cells[n]);
    const auto fail = [&](const std::string& what) {
      ThrowError(source, ": row ", n + 1, ", column ", Quoted(column.name), ": ", what);
    };
    if (cell.size() != digits.length)
      fail(std::to_string(cell.size()) + " digits, but the first row has " +
           std::to_string(digits.length) + "; give all rows as many");
    for (Index j = 0; j < bits.cols(); ++j) {
      const int digit = HexDigit(cell[static_cast<std::size_t>(j / per_digit)]);
      if (digit < 0) fail(Quoted(cell) + " is not made of hexadecimal digits");
      row[j] = (digit >> (per_digit - 1 - j % per_digit)) & 1;
    }
  }
  return bits;
}

void AppendColumns(const std::string& name, const Matrix& bits, Table* table) {
  table->values.conservativeResize(Eigen::NoChange, table->values.cols() + bits.cols());
  table->values.rightCols(bits.cols()) = bits;
  for (Index j = 0; j < bits.cols(); ++j)
    table->columns.push_back(name + kBetween + std::to_string(j));
  if (!table->levels.empty()) table->levels.resize(table->columns.size());
  if (!table->formats.empty()) table->formats.resize(table->columns.size());
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name) > 0;
}

}  // namespace

std::vector<BitColumn> BitColumns(const std::vector<std::string>& names) {
  std::vector<BitColumn> columns;
  for (const std::string& name : names) columns.push_back({name});
  return columns;
}

Table ReadTableWithBits(const FileBytes& file, ReadOptions options,
                        const std::vector<BitColumn>& bits) {
  if (bits.empty()) return ReadTable(file, options);
  std::vector<std::string> wanted;
  for (const BitColumn& column : bits) wanted.push_back(column.name);
  const TextColumns text = ReadColumns(file, wanted, options);
  options.ignore.insert(options.ignore.end(), text.names.begin(), text.names.end());
  Table table = ReadTable(file, options);
  std::erase_if(table.left_out,
                [&](const std::string& name) { return Contains(text.names, name); });
  const internal::MissingWords words(options.missing);
  for (std::size_t i = 0; i < text.names.size(); ++i) {
    const BitColumn column{text.names[i], bits.size() == text.names.size() ? bits[i].needed : 0};
    AppendColumns(column.name, ParseBits(table.source, column, text.cells[i], words), &table);
  }
  return table;
}

void AppendBits(const BitColumn& column, const std::vector<std::string>& cells, Table* table) {
  AppendColumns(column.name, ParseBits(table->source, column, cells, internal::MissingWords()),
                table);
}

std::vector<BitColumn> BitColumnsAmong(const std::vector<std::string>& names,
                                       const Schema& schema) {
  std::vector<BitColumn> columns;
  for (const InputColumn& input : schema.inputs) {
    const std::size_t place = input.name.rfind(kBetween);
    Index bit = 0;
    const char* const end = input.name.data() + input.name.size();
    if (place == std::string::npos) continue;
    const auto read = std::from_chars(input.name.data() + place + 1, end, bit);
    if (read.ec != std::errc() || read.ptr != end || bit < 0) continue;
    const std::string base = input.name.substr(0, place);
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const BitColumn& known) { return known.name == base; });
    BitColumn& column = found == columns.end() ? columns.emplace_back(BitColumn{base}) : *found;
    column.needed = std::max(column.needed, bit + 1);
  }
  std::erase_if(columns, [&](const BitColumn& column) {
    const bool has_bits = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.starts_with(column.name + kBetween);
    });
    return has_bits || !Contains(names, column.name);
  });
  return columns;
}

std::vector<BitColumn> BitColumnsFor(const Schema& schema, const FileBytes& file,
                                     const ReadOptions& options) {
  if (IsNpy(file.bytes())) return {};
  return BitColumnsAmong(ReadCsvNames(file, options), schema);
}

bool LookLikeBits(const std::vector<std::string>& cells, const ReadOptions& options) {
  constexpr std::size_t kLeastDigits = 16;
  constexpr double kMostOnes = 0.4;
  const internal::MissingWords words(options.missing);
  const BitColumn column;
  const Digits digits = LookAt(column, cells, words);
  if (digits.length < kLeastDigits) return false;
  try {
    const Matrix bits = ParseBits({}, column, cells, words);
    const auto missing = bits.array().isNaN();
    const double ones = missing.select(0.0, bits).sum();
    return digits.binary || ones < kMostOnes * static_cast<double>(bits.size() - missing.count());
  } catch (const Error&) {
    return false;
  }
}

}  // namespace fathom
