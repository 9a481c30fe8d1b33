#include "fathom/data/csv_layout.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/read_columns.h"
#include "fathom/io/text_encoding.h"

namespace fathom::internal {

std::vector<CsvField> FieldsOfRow(const char* begin, const char* end, char separator) {
  std::vector<CsvField> fields = {ReadField(begin, end, separator)};
  while (fields.back().next != end && *fields.back().next != '\n')
    fields.push_back(ReadField(fields.back().next + 1, end, separator));
  return fields;
}

namespace {

// Makes the names UTF-8, and gives one to columns that have none.
void FinishNames(CsvLayout* layout, std::vector<Note>* notes) {
  std::vector<std::string>& names = layout->names;
  if (names.size() == 1 && names[0].empty()) {
    ThrowError(layout->source, ": line 1 is blank; the first line must name the columns");
  }
  std::vector<std::string> nameless;
  layout->has_index = names[0].empty();
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c].empty()) {
      names[c] = "column " + std::to_string(c + 1);
      if (c > 0) nameless.push_back(names[c]);
    } else if (!IsUtf8(names[c])) {
      names[c] = ToUtf8(names[c]);
      layout->decoded = true;
    }
  }
  if (nameless.empty()) return;
  notes->push_back({"nameless_columns", static_cast<Index>(nameless.size()),
                    layout->source + ": " + std::to_string(nameless.size()) +
                        (nameless.size() == 1 ? " column has no name and is called "
                                              : " columns have no names and are called ") +
                        QuotedList(nameless)});
}

void CheckNames(const std::string& source, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t c = 0; c < names.size(); ++c) {
    const auto [first, is_new] = seen.emplace(names[c], c);
    if (!is_new) {
      ThrowError(source, ": columns ", first->second + 1, " and ", c + 1, " are both called ",
                 Quoted(names[c]), "; give every column a name of its own");
    }
  }
}

// Whether the first rows have one cell more than the header has names, as R's write.table writes
// them. Between commas the first cell must be quoted: the numbers could have decimal commas.
bool HasRowNames(std::string_view body, const CsvLayout& layout) {
  constexpr int kRows = 10;
  const char* p = body.data();
  const char* const end = p + body.size();
  for (int n = 0; n < kRows && p != end; ++n) {
    const std::vector<CsvField> row = FieldsOfRow(p, end, layout.separator);
    if (row.size() != layout.names.size() + 1) return false;
    if (layout.separator == ',' && !row[0].quoted) return false;
    p = row.back().next;
    if (p != end) ++p;
  }
  return !body.empty();
}

}  // namespace

const char* RowEnd(const char* begin, const char* end, char separator) {
  const char* p = ReadField(begin, end, separator).next;
  while (p != end && *p != '\n') p = ReadField(p + 1, end, separator).next;
  return p;
}

Index ReadHeader(const ReadOptions& options, std::string_view* text, CsvLayout* layout,
                 std::vector<Note>* notes) {
  const char* const end = text->data() + text->size();
  const std::vector<CsvField> fields = FieldsOfRow(text->data(), end, layout->separator);
  const auto is_number = [](const CsvField& field) {
    return IsNumber(field.text) || IsNumberWithComma(field.text);
  };
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
  text->remove_prefix(header.size() + (stop == end ? 0 : 1));
  if (HasRowNames(*text, *layout)) layout->names.insert(layout->names.begin(), "");
  FinishNames(layout, notes);
  CheckNames(layout->source, layout->names);
  return 1 + std::count(header.begin(), header.end(), '\n');
}

std::vector<std::string> ChooseColumns(const ReadOptions& options, CsvLayout* layout) {
  layout->destinations = KeptColumns(layout->source, layout->names, options);
  std::vector<std::string> kept;
  for (std::size_t c = 0; c < layout->names.size(); ++c) {
    if (layout->destinations[c] >= 0) kept.push_back(layout->names[c]);
  }
  return kept;
}

}  // namespace fathom::internal
