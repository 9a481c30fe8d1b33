#include "fathom/data/csv_layout.h"

#include <algorithm>
#include <unordered_map>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/read_columns.h"

namespace fathom::internal {

std::vector<CsvField> FieldsOfRow(const char* begin, const char* end, char separator) {
  std::vector<CsvField> fields = {ReadField(begin, end, separator)};
  while (fields.back().next != end && *fields.back().next != '\n')
    fields.push_back(ReadField(fields.back().next + 1, end, separator));
  return fields;
}

namespace {

constexpr char kSeparators[] = {',', ';', '\t', '|'};

// The first `count` rows of the text, each as its fields.
std::vector<std::vector<CsvField>> FirstRows(std::string_view text, std::size_t count,
                                             char separator) {
  const char* p = text.data();
  const char* const end = p + text.size();
  std::vector<std::vector<CsvField>> rows;
  while (rows.size() < count && p != end) {
    rows.push_back(FieldsOfRow(p, end, separator));
    p = rows.back().back().next;
    if (p != end) ++p;
  }
  return rows;
}

// The separator that cuts the first lines into the same number of cells each; of several, the one
// that makes most cells. If a comma appears only inside numbers between the cells of another
// separator, that other one wins: it is a decimal comma.
char DetectSeparator(std::string_view text) {
  struct Candidate {
    char separator;
    std::size_t cells;
    bool even, decimal_commas;
  };
  Candidate best{',', 1, false, false};
  for (const char separator : kSeparators) {
    const auto rows = FirstRows(text.substr(0, 1 << 16), 10, separator);
    Candidate candidate{separator, rows.front().size(), true, false};
    for (const auto& row : rows) {
      // The cut may have left the last of several rows incomplete.
      const bool whole = &row != &rows.back() || rows.size() == 1 || text.size() <= 1 << 16;
      candidate.even = candidate.even && (row.size() == candidate.cells || !whole ||
                                          (row.size() == 1 && row[0].text.empty()));
      candidate.decimal_commas = candidate.decimal_commas ||
                                 std::any_of(row.begin(), row.end(), [](const CsvField& field) {
                                   return !field.quoted && IsNumberWithComma(field.text);
                                 });
    }
    if (candidate.cells < 2) continue;
    const bool better = candidate.even != best.even ? candidate.even
                        : candidate.even && candidate.decimal_commas && best.separator == ','
                            ? true
                            : candidate.cells > best.cells;
    if (better) best = candidate;
  }
  return best.separator;
}

void CheckNames(const std::string& source, const std::vector<std::string>& names) {
  if (names.size() == 1 && names[0].empty()) {
    ThrowError(source, ": line 1 is blank; the first line must name the columns");
  }
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c].empty()) {
      ThrowError(source, ": column ", c + 1,
                 " has no name; name it in the first line, or remove it");
    }
    if (!IsUtf8(names[c])) {
      ThrowError(source, ": the name of column ", c + 1, " is not UTF-8; save the file as UTF-8");
    }
    const auto [first, is_new] = seen.emplace(names[c], c);
    if (!is_new) {
      ThrowError(source, ": columns ", first->second + 1, " and ", c + 1, " are both called ",
                 Quoted(names[c]), "; give every column a name of its own");
    }
  }
}

// How much of the file decides on the kinds of its columns.
constexpr std::size_t kSampleBytes = 1 << 20;
constexpr std::size_t kSampleRows = 1000;

// Finds the columns that hold more strings than numbers in the first lines.
std::vector<char> DetectText(std::string_view body, const CsvLayout& layout) {
  std::vector<Index> balance(layout.names.size(), 0);
  std::string_view sample = body.substr(0, kSampleBytes);
  if (sample.size() < body.size()) {
    const std::size_t last = sample.rfind('\n');
    sample =
        last == std::string_view::npos ? body.substr(0, body.find('\n')) : sample.substr(0, last);
  }
  for (const auto& row : FirstRows(sample, kSampleRows, layout.separator)) {
    if (row.size() != balance.size()) continue;  // reported when its turn comes
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string_view cell = row[c].text;
      if (IsMissing(cell) || row[c].problem) continue;
      balance[c] += IsNumber(cell) || IsNumberWithComma(cell) ? -1 : 1;
    }
  }
  std::vector<char> text;
  for (const Index surplus : balance) text.push_back(surplus > 0 ? 1 : 0);
  return text;
}

}  // namespace

void RefuseForeignFormats(const std::string& source, std::string_view text) {
  const auto starts = [&](std::string_view magic) { return text.substr(0, magic.size()) == magic; };
  for (const std::string_view packed : {"\x28\xb5\x2f\xfd", "BZh",
                                        "\xfd"
                                        "7zXZ"}) {
    if (starts(packed)) {
      ThrowError(source, ": is compressed in a way that fathom does not read; unpack it first, or",
                 " pack it with gzip");
    }
  }
  if (starts("PAR1")) ThrowError(source, ": is a Parquet file; export it as CSV");
  if (starts("PK\x03\x04")) {
    ThrowError(source,
               ": is a zip archive or an Excel workbook, not text; export the sheet as CSV");
  }
  if (starts("\xff\xfe") || starts("\xfe\xff")) {
    ThrowError(source, ": is text in UTF-16; save it as UTF-8");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    ThrowError(source, ": is empty; a table needs a line of column names and rows of numbers");
  }
}

const char* RowEnd(const char* begin, const char* end, char separator) {
  const char* p = ReadField(begin, end, separator).next;
  while (p != end && *p != '\n') p = ReadField(p + 1, end, separator).next;
  return p;
}

Index ReadHeader(const ReadOptions& options, std::string_view* text, CsvLayout* layout) {
  layout->separator = options.separator == 0 ? DetectSeparator(*text) : options.separator;
  const char* const end = text->data() + text->size();
  const std::vector<CsvField> fields = FieldsOfRow(text->data(), end, layout->separator);
  const auto is_number = [](const CsvField& field) { return IsNumber(field.text); };
  layout->named =
      options.header == Header::kPresent ||
      (options.header == Header::kDetect && !std::all_of(fields.begin(), fields.end(), is_number));
  if (!layout->named) {
    layout->names = UnnamedColumns(layout->source, fields.size(), options);
    return 0;
  }
  for (const CsvField& field : fields) {
    if (field.problem) {
      ThrowError(layout->source, ": line 1, name of column ", layout->names.size() + 1, ": ",
                 field.problem, " in ", Quoted(field.text), "; mend the quotes");
    }
    layout->names.push_back(Unescape(field));
  }
  const char* const stop = fields.back().next;
  const std::string_view header = text->substr(0, static_cast<std::size_t>(stop - text->data()));
  if (stop == end && header.find('\r') != std::string_view::npos) {
    ThrowError(layout->source,
               ": lines end in a lone carriage return; save the file with line feeds");
  }
  CheckNames(layout->source, layout->names);
  text->remove_prefix(header.size() + (stop == end ? 0 : 1));
  return 1 + std::count(header.begin(), header.end(), '\n');
}

std::vector<std::string> ChooseColumns(const ReadOptions& options, std::string_view body,
                                       CsvLayout* layout) {
  layout->destinations = KeptColumns(layout->source, layout->names, options);
  layout->text = DetectText(body, *layout);
  ApplyKinds(layout->source, layout->names, options, &layout->text);
  std::vector<std::string> kept;
  for (std::size_t c = 0; c < layout->names.size(); ++c) {
    if (layout->destinations[c] >= 0) kept.push_back(layout->names[c]);
  }
  return kept;
}

}  // namespace fathom::internal
