#include "fathom/data/read_table.h"

#include <charconv>

#include "fathom/data/csv.h"
#include "fathom/data/npy.h"
#include "fathom/data/table_parts.h"

namespace fathom {

Table ReadTable(const std::string& path, const ReadOptions& options) {
  return ReadTable(OpenTable(path, options), options);
}

Table ReadTable(const FileBytes& file, const ReadOptions& options) {
  return IsNpy(file.bytes()) ? ReadNpy(file, options) : ReadCsv(file, options);
}

Table StreamTable(const FileBytes& file, const ReadOptions& options, RowSink* sink,
                  std::vector<LevelPlaces>* places) {
  return IsNpy(file.bytes()) ? StreamNpy(file, options, sink, places)
                             : StreamCsv(file, options, sink, places);
}

TextColumns ReadColumns(const FileBytes& file, const std::vector<std::string>& columns,
                        const ReadOptions& options) {
  if (!IsNpy(file.bytes())) return ReadCsvColumns(file, columns, options);
  const Table table = ReadNpy(file, options);
  const bool all = columns == std::vector<std::string>{"all"};
  TextColumns text;
  for (const std::string& name : all ? table.columns : columns) {
    const Index c = FindColumn(table, name);
    text.names.push_back(table.columns[c]);
    std::vector<std::string>& cells = text.cells.emplace_back();
    for (Index n = 0; n < table.values.rows(); ++n) {
      char digits[32];
      cells.emplace_back(digits,
                         std::to_chars(digits, digits + sizeof(digits), table.values(n, c)).ptr);
    }
  }
  return text;
}

}  // namespace fathom
