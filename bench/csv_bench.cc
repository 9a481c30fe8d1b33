// Reading a table: the limit is std::from_chars on every cell.
#include <memory>

#include "bench/csv_file.h"
#include "bench/harness.h"
#include "fathom/data/csv.h"

namespace fathom::bench {

namespace {

Case CsvCase(Index rows, Index columns) {
  auto file = std::make_shared<CsvFile>(rows, columns);
  return {[file] { ReadTable(file->path(), {.threads = 1}); },
          {.cells = static_cast<double>(rows * columns)},
          static_cast<double>(file->size())};
}

}  // namespace

void RegisterCsvBenchmarks() {
  Register("read_csv_100000x9", [] { return CsvCase(100'000, 9); });
}

}  // namespace fathom::bench
