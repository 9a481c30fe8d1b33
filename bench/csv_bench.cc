// Reading a table: the limit is std::from_chars on every cell.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "bench/harness.h"
#include "fathom/base/random.h"
#include "fathom/data/csv.h"

namespace fathom::bench {

namespace {

// A file of normal numbers with six decimals that is removed with the object.
class CsvFile {
 public:
  CsvFile(Index rows, Index columns) {
    std::string pattern = (std::filesystem::temp_directory_path() / "fathom-bench-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    RandomStream stream(1);
    std::ofstream out(path());
    for (Index c = 0; c < columns; ++c) out << (c > 0 ? "," : "") << "column" << c;
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c < columns; ++c)
        out << (c > 0 ? ',' : '\n') << std::to_string(stream.Normal());
    }
    out << '\n';
  }
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;
  ~CsvFile() { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "table.csv").string(); }

 private:
  std::filesystem::path folder_;
};

Case CsvCase(Index rows, Index columns) {
  auto file = std::make_shared<CsvFile>(rows, columns);
  return {[file] { ReadTable(file->path(), {.threads = 1}); },
          {.cells = static_cast<double>(rows * columns)},
          static_cast<double>(std::filesystem::file_size(file->path()))};
}

}  // namespace

void RegisterCsvBenchmarks() {
  Register("read_csv_100000x9", [] { return CsvCase(100'000, 9); });
}

}  // namespace fathom::bench
