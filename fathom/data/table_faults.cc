#include "fathom/data/table_faults.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "fathom/base/text.h"
#include "fathom/data/column_kinds.h"
#include "fathom/data/csv_layout.h"
#include "fathom/data/csv_open.h"
#include "fathom/data/npy.h"
#include "fathom/io/text_encoding.h"

namespace fathom {
namespace {

using internal::CsvField;
using internal::CsvLayout;

// Counts faults of a kind and remembers where the first one was.
class Collector {
 public:
  explicit Collector(const CsvLayout& layout) : layout_(layout) {}

  void SeeLine(const std::vector<CsvField>& row, Index line) {
    const bool blank = row.size() == 1 && row[0].text.empty();
    const std::string what =
        blank ? "blank: delete it"
              : "of " + std::to_string(row.size()) + (row.size() == 1 ? " cell" : " cells") +
                    " where there are " + std::to_string(layout_.names.size()) + " columns";
    Count(-1, blank ? "line is " : "line is one ", what, line);
  }

  void SeeCell(const CsvField& field, std::size_t c, Index line) {
    if (field.problem != nullptr) {
      Count(static_cast<Index>(c), "cell: ", field.problem, line);
      return;
    }
    if (layout_.text[c] != 0 || layout_.missing.InNumbers(field.text)) return;
    double ignored = 0;
    if (ReadCell(layout_.formats[c], field.text, &ignored)) return;
    TableFault& fault = Count(
        static_cast<Index>(c), "cell is ",
        "no number" +
            std::string(layout_.formats[c].kind == CellFormat::Kind::kPlain
                            ? ""
                            : " written as the others, " + DescribeFormat(layout_.formats[c])),
        line);
    const std::string word = ToUtf8(internal::Unescape(field));
    constexpr std::size_t kMostWords = 10;
    if (fault.words.size() < kMostWords &&
        std::find(fault.words.begin(), fault.words.end(), word) == fault.words.end())
      fault.words.push_back(word);
  }

  std::vector<TableFault> Finish() && {
    std::vector<TableFault> all;
    for (auto& [key, fault] : faults_) {
      if (!fault.words.empty()) fault.text += ": " + QuotedList(fault.words, 5);
      all.push_back(std::move(fault));
    }
    return all;
  }

 private:
  TableFault& Count(Index column, const std::string& thing, const std::string& what, Index line) {
    TableFault& fault = faults_[{column, what}];
    if (++fault.count > 1) {
      // "3 cells are", and the place stays that of the first.
      const std::size_t space = fault.text.find(" (first in line");
      const std::string plural = thing.starts_with("line is")   ? "lines are "
                                 : thing.starts_with("cell is") ? "cells are "
                                                                : "cells: ";
      fault.text = std::to_string(fault.count) + " " + plural + what + fault.text.substr(space);
      return fault;
    }
    if (column >= 0) fault.column = layout_.names[static_cast<std::size_t>(column)];
    fault.text = "1 " + thing + what + " (first in line " + std::to_string(line) + ")";
    return fault;
  }

  const CsvLayout& layout_;
  std::map<std::pair<Index, std::string>, TableFault> faults_;
};

}  // namespace

std::vector<TableFault> FindFaults(const FileBytes& file, const ReadOptions& options) {
  if (IsNpy(file.bytes())) return {};
  internal::OpenedCsv csv = internal::OpenCsv(file, options);
  CsvLayout& layout = csv.layout;
  internal::ChooseColumns(options, &layout);
  std::vector<Note> ignored;
  internal::FindKinds(options, file, csv.body, internal::Evidence::kEverything, &layout, &ignored);
  Collector faults(layout);
  const char* p = csv.body.data();
  const char* const end = p + csv.body.size();
  for (Index line = csv.header_lines + 1;; ++p) {
    const std::vector<CsvField> row = internal::FieldsOfRow(p, end, layout.separator);
    if (row.size() != layout.names.size()) {
      faults.SeeLine(row, line);
    } else {
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (layout.destinations[c] >= 0 && layout.anything[c] == 0) faults.SeeCell(row[c], c, line);
      }
    }
    line += 1 + std::count(p, row.back().next, '\n');
    p = row.back().next;
    if (p == end) break;
  }
  return std::move(faults).Finish();
}

}  // namespace fathom
