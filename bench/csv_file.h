// A table to read.
#ifndef FATHOM_BENCH_CSV_FILE_H_
#define FATHOM_BENCH_CSV_FILE_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fathom/base/random.h"

namespace fathom::bench {

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
  std::uintmax_t size() const { return std::filesystem::file_size(path()); }

 private:
  std::filesystem::path folder_;
};

}  // namespace fathom::bench

#endif  // FATHOM_BENCH_CSV_FILE_H_
