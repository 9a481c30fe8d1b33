// Writes a table of about so many bytes, reads it with each number of threads, and prints one line
// of JSON for each: wall time, the best of three, beside std::from_chars on every cell of it.
//   fathom_bench_read bytes=1000000000 threads=1,2
#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>

#include "bench/arguments.h"
#include "bench/clock.h"
#include "bench/csv_file.h"
#include "bench/roofline.h"
#include "fathom/data/csv.h"

namespace fathom::bench {

namespace {

constexpr Index kColumns = 9;
constexpr double kBytesPerRow = 9.5 * kColumns;  // of CsvFile's numbers

void Run(const Arguments& arguments) {
  const Index bytes = arguments.Number("bytes", 100'000'000);
  const auto rows = static_cast<Index>(static_cast<double>(bytes) / kBytesPerRow);
  const CsvFile file(rows, kColumns);
  for (const Index threads : arguments.List("threads", {1})) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
      const double begin = WallSeconds();
      ReadTable(file.path(), {.threads = static_cast<int>(threads)});
      best = std::min(best, WallSeconds() - begin);
    }
    Roofline roofline;
    for (int i = 0; i < 5; ++i) roofline.Refine();
    const double ideal = roofline.IdealSeconds({.cells = static_cast<double>(rows * kColumns)}) /
                         static_cast<double>(threads);
    std::printf(
        "{\"threads\": %d, \"bytes\": %.0f, \"seconds\": %.6g, \"from_chars_seconds\": %.6g, "
        "\"ratio\": %.4g, \"peak_bytes\": %.0f, \"table_bytes\": %.0f}\n",
        static_cast<int>(threads), static_cast<double>(file.size()), best, ideal, best / ideal,
        PeakBytes(), 8.0 * static_cast<double>(rows * kColumns));
    std::fflush(stdout);
  }
}

}  // namespace

}  // namespace fathom::bench

int main(int argc, char** argv) {
  try {
    fathom::bench::Run({argc, argv, {"bytes", "threads"}});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fathom_bench_read: %s\n", error.what());
    return 2;
  }
}
