// Benchmarks that know how much work they do. A file registers its own; main prints one line of
// JSON for each.
#ifndef FATHOM_BENCH_HARNESS_H_
#define FATHOM_BENCH_HARNESS_H_

#include <functional>
#include <string>

#include "bench/roofline.h"

namespace fathom::bench {

// One call of the function does `work`, on one thread. `items` is what seconds_per_item divides by
// (rows times pairs, rows, bytes); 0: none.
struct Case {
  std::function<void()> call;
  Work work;
  double items = 0;
};

// `make` prepares the case, untimed, when its turn comes. If there is also a case NAME_products,
// the line of NAME has the ratio of their times, ratio_to_products.
void Register(const std::string& name, std::function<Case()> make);

void RegisterKernelBenchmarks();
void RegisterModelBenchmarks();
void RegisterCsvBenchmarks();
void RegisterBnnBenchmarks();

}  // namespace fathom::bench

#endif  // FATHOM_BENCH_HARNESS_H_
