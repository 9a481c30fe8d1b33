#include "fathom/data/csv_text.h"

#include <algorithm>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/data/csv_layout.h"
#include "fathom/data/csv_row.h"
#include "fathom/io/text_encoding.h"

namespace fathom::internal {
namespace {

constexpr std::size_t kStart = 1 << 16;  // bytes that decide on the separator and on line ends
constexpr char kSeparators[] = {',', ';', '\t', '|'};

void RefuseForeignFormats(const std::string& source, std::string_view bytes) {
  using std::string_view_literals::operator""sv;
  const auto starts = [&](std::string_view magic) { return bytes.starts_with(magic); };
  // A column may be called BZh: its files go on with a digit and these bytes.
  const bool bzip2 = starts("BZh") && bytes.size() > 4 && bytes.substr(4, 6) == "1AY&SY";
  if (starts("\x28\xb5\x2f\xfd") || bzip2 || starts("\xfd\x37zXZ\0"sv)) {
    ThrowError(source, ": is compressed in a way that fathom does not read; unpack it first, or",
               " pack it with gzip");
  }
  if (starts("PAR1") && bytes.ends_with("PAR1") && bytes.size() > 8) {
    ThrowError(
        source, ": is a Parquet file, which fathom does not read; write it as CSV, for",
        " example in Python with pandas.read_parquet(FILE).to_csv('table.csv', index=False)");
  }
  if (starts("PK\x03\x04")) {
    ThrowError(source, ": is an Excel workbook or another zip archive, which fathom does not read;",
               " save the sheet as CSV, or turn it into one with 'xlsx2csv FILE table.csv'");
  }
  if (starts("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) {
    ThrowError(source, ": is an old Excel workbook, which fathom does not read; save the sheet as",
               " CSV");
  }
}

std::string_view FirstLine(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

std::string_view WithoutBlanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Moves past the first line.
void DropLine(CsvText* csv) {
  const std::size_t length = FirstLine(csv->text).size();
  csv->text.remove_prefix(std::min(length + 1, csv->text.size()));
  ++csv->lines_before;
}

// "sep=;", which tells spreadsheets how to read the rest.
void TakeSeparatorLine(CsvText* csv) {
  const std::string_view line = WithoutBlanks(FirstLine(csv->text));
  const bool tab = FirstLine(csv->text).starts_with("sep=\t");
  if (!line.starts_with("sep=") || (line.size() != 5 && !tab)) return;
  if (csv->separator == 0) csv->separator = tab ? '\t' : line[4];
  DropLine(csv);
}

bool IsComment(std::string_view line) {
  return line.size() > 1 && line[0] == '#' &&
         std::find(std::begin(kSeparators), std::end(kSeparators), line[1]) ==
             std::end(kSeparators);
}

bool IsRowOfNumbers(std::string_view line) {
  std::size_t numbers = 0;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" ,;|\t\r"), line.size());
    double ignored = 0;
    if (end > 0 && !ReadPlainNumber(line.substr(0, end), &ignored)) return false;
    numbers += end > 0 ? 1 : 0;
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return numbers > 0;
}

// Comments before the table. The last one, if it names the columns, is kept without its '#'.
void TakeComments(CsvText* csv) {
  while (IsComment(FirstLine(csv->text))) {
    const std::string_view line = FirstLine(csv->text);
    const std::string_view next =
        FirstLine(csv->text.substr(std::min(line.size() + 1, csv->text.size())));
    if (!IsComment(next) && IsRowOfNumbers(next)) {
      csv->text.remove_prefix(line.find_first_not_of("# \t") == std::string_view::npos
                                  ? line.size()
                                  : line.find_first_not_of("# \t"));
      return;
    }
    DropLine(csv);
  }
}

// Cells of the first rows, as many as `separator` makes of each.
struct Cut {
  std::size_t names = 0;       // cells of the first row
  bool even = true;            // the others have as many
  bool with_row_names = true;  // or all of the others one more, as R writes its tables
  bool decimal_commas = false;
};

Cut CutBy(char separator, std::string_view text) {
  constexpr std::size_t kRows = 10;
  const std::string_view start = text.substr(0, kStart);
  const char* p = start.data();
  const char* const end = p + start.size();
  Cut cut;
  for (std::size_t n = 0; n < kRows && p != end; ++n) {
    const std::vector<CsvField> row = FieldsOfRow(p, end, separator);
    p = row.back().next;
    // The cut may have left the last of several rows incomplete, and a blank line says nothing.
    const bool whole = p != end || n == 0 || start.size() == text.size();
    if (p != end) ++p;
    if (!whole || (row.size() == 1 && row[0].text.empty())) continue;
    if (n == 0) cut.names = row.size();
    if (n > 0) cut.even = cut.even && row.size() == cut.names;
    if (n > 0) cut.with_row_names = cut.with_row_names && row.size() == cut.names + 1;
    cut.decimal_commas =
        cut.decimal_commas || std::any_of(row.begin(), row.end(), [](const CsvField& field) {
          return !field.quoted && IsNumberWithComma(field.text);
        });
  }
  return cut;
}

// Blanks between cells become a tab each.
std::string BlanksToTabs(std::string_view text) {
  std::string tabs;
  tabs.reserve(text.size());
  bool quoted = false, blank = false, begun = false;
  for (const char c : text) {
    if (!quoted && (c == ' ' || c == '\t' || c == '\r')) {
      blank = true;
      continue;
    }
    if (c == '\n' && !quoted) begun = false;
    if (blank && begun) tabs += '\t';
    blank = false;
    begun = begun || c != '\n';
    if (c == '"') quoted = !quoted;
    tabs += c;
  }
  return tabs;
}

// The separator that cuts the first lines into the same number of cells each; of several, the one
// that makes most cells. If a comma appears only inside numbers between the cells of another
// separator, that other one wins: it is a decimal comma. Blanks are asked last.
char FindSeparator(std::string_view text) {
  char best = ',';
  Cut best_cut{.names = 1, .even = false, .with_row_names = false};
  for (const char separator : kSeparators) {
    const Cut cut = CutBy(separator, text);
    if (cut.names < 2) continue;
    const bool better = cut.even != best_cut.even ? cut.even
                        : cut.even && cut.decimal_commas && best == ','
                            ? true
                            : cut.names > best_cut.names;
    if (!better) continue;
    best = separator;
    best_cut = cut;
  }
  if (best_cut.even || best_cut.with_row_names) return best;
  const std::string tabs = BlanksToTabs(text.substr(0, kStart));
  const Cut cut = CutBy('\t', tabs);
  const bool rows = tabs.find('\n') != std::string::npos;
  const bool blanks = rows && ((cut.even && cut.names >= 2) || cut.with_row_names);
  return blanks ? kBlanks : best;
}

void Rewrite(std::string text, CsvText* csv) {
  csv->own = std::make_shared<const std::string>(std::move(text));
  csv->text = *csv->own;
}

}  // namespace

CsvText ToCsvText(const std::string& source, std::string_view bytes, char separator) {
  CsvText csv{.text = bytes, .separator = separator};
  RefuseForeignFormats(source, bytes);
  if (const Utf16 order = FindUtf16(bytes); order != Utf16::kNone)
    Rewrite(Utf16ToUtf8(bytes, order), &csv);
  if (csv.text.starts_with("\xef\xbb\xbf")) csv.text.remove_prefix(3);
  if (csv.text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    ThrowError(source, ": is empty; a table needs a line of column names and rows of numbers");
  const std::string_view start = csv.text.substr(0, kStart);
  if (start.find('\r') != start.npos && csv.text.find('\n') == csv.text.npos) {
    std::string lines(csv.text);
    std::replace(lines.begin(), lines.end(), '\r', '\n');
    Rewrite(std::move(lines), &csv);
  }
  TakeSeparatorLine(&csv);
  TakeComments(&csv);
  if (csv.separator == 0) csv.separator = FindSeparator(csv.text);
  if (csv.separator == kBlanks) {
    Rewrite(BlanksToTabs(csv.text), &csv);
    csv.separator = '\t';
  }
  return csv;
}

}  // namespace fathom::internal
