#include "fathom/data/bits.h"

#include <algorithm>
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

// [rows, 4 digits]
Matrix ParseBits(const std::string& source, const std::string& column,
                 const std::vector<std::string>& cells, const internal::MissingWords& words) {
  const auto missing = [&](const std::string& cell) { return words.InText(cell); };
  const auto first = std::find_if_not(cells.begin(), cells.end(), missing);
  if (first == cells.end())
    ThrowError(source, ": column ", Quoted(column), ": all its cells are missing");
  const std::size_t digits = WithoutPrefix(*first).size();
  Matrix bits(static_cast<Index>(cells.size()), 4 * static_cast<Index>(digits));
  for (std::size_t n = 0; n < cells.size(); ++n) {
    auto row = bits.row(static_cast<Index>(n));
    if (missing(cells[n])) {
      row.setConstant(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const std::string_view cell = WithoutPrefix(cells[n]);
    const auto fail = [&](const std::string& what) {
      ThrowError(source, ": row ", n + 1, ", column ", Quoted(column), ": ", what);
    };
    if (cell.size() != digits)
      fail(std::to_string(cell.size()) + " digits, but the first row has " +
           std::to_string(digits) + "; give all rows as many");
    for (Index j = 0; j < bits.cols(); ++j) {
      const int digit = HexDigit(cell[static_cast<std::size_t>(j / 4)]);
      if (digit < 0) fail(Quoted(cell) + " is not made of hexadecimal digits");
      row[j] = (digit >> (3 - j % 4)) & 1;
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

Table ReadTableWithBits(const FileBytes& file, ReadOptions options,
                        const std::vector<std::string>& bits) {
  if (bits.empty()) return ReadTable(file, options);
  const TextColumns text = ReadColumns(file, bits, options);
  options.ignore.insert(options.ignore.end(), text.names.begin(), text.names.end());
  Table table = ReadTable(file, options);
  std::erase_if(table.left_out,
                [&](const std::string& name) { return Contains(text.names, name); });
  const internal::MissingWords words(options.missing);
  for (std::size_t i = 0; i < text.names.size(); ++i)
    AppendColumns(text.names[i], ParseBits(table.source, text.names[i], text.cells[i], words),
                  &table);
  return table;
}

void AppendBits(const std::string& name, const std::vector<std::string>& cells, Table* table) {
  AppendColumns(name, ParseBits(table->source, name, cells, internal::MissingWords()), table);
}

std::vector<std::string> BitColumnsAmong(const std::vector<std::string>& names,
                                         const Schema& schema) {
  std::vector<std::string> bases;
  for (const InputColumn& input : schema.inputs) {
    const std::size_t place = input.name.rfind(kBetween);
    if (place == std::string::npos || place + 1 == input.name.size()) continue;
    if (input.name.find_first_not_of("0123456789", place + 1) != std::string::npos) continue;
    const std::string base = input.name.substr(0, place);
    if (!Contains(bases, base)) bases.push_back(base);
  }
  std::erase_if(bases, [&](const std::string& base) {
    const bool has_bits = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.starts_with(base + kBetween);
    });
    return has_bits || !Contains(names, base);
  });
  return bases;
}

std::vector<std::string> BitColumnsFor(const Schema& schema, const FileBytes& file,
                                       const ReadOptions& options) {
  if (IsNpy(file.bytes())) return {};
  return BitColumnsAmong(ReadCsvNames(file, options), schema);
}

}  // namespace fathom
