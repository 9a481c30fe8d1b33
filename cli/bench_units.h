// The units of work of a study.
#ifndef FATHOM_CLI_BENCH_UNITS_H_
#define FATHOM_CLI_BENCH_UNITS_H_

#include <string>
#include <vector>

#include "cli/study.h"
#include "study/results_file.h"

namespace fathom::cli {

struct Unit {
  std::string dataset;
  Index split = 0;
  const StudyMethod* method = nullptr;  // of the study
  double work = 0;                      // see Method::Work

  UnitKey Key() const { return {dataset, split, method->name}; }
};

// Reads every dataset once, so that what is wrong with one is told before hours of work. Splits
// come in turn, so that a study that is cut has all datasets; within a split the longest unit is
// first.
std::vector<Unit> ListUnits(const Study& study, const std::string& data_folder);

// What to do with results of units whose method has other settings now.
enum class IfChanged { kRefuse, kKeep, kRedo };
// Throws Error naming the setting, keeps such results, or removes them.
void CheckSettings(const std::vector<Unit>& units, IfChanged if_changed, ResultsFile* results);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_BENCH_UNITS_H_
