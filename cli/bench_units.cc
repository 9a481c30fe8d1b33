#include "cli/bench_units.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom::cli {

std::vector<Unit> ListUnits(const Study& study, const std::string& data_folder) {
  std::vector<Unit> units;
  Index most_splits = 0;
  for (const std::string& dataset : study.datasets) {
    const SplitData data = LoadStudyData(study, data_folder, dataset);
    const auto splits = static_cast<Index>(data.splits.size());
    most_splits = std::max(most_splits, splits);
    for (const StudyMethod& method : study.methods) {
      if (std::count(method.datasets.begin(), method.datasets.end(), dataset) == 0) continue;
      for (Index split = 0; split < splits; ++split) {
        const bool wanted = method.splits.empty() ||
                            std::count(method.splits.begin(), method.splits.end(), split) > 0;
        if (!wanted) continue;
        const auto rows =
            static_cast<Index>(data.splits[static_cast<std::size_t>(split)].train.size());
        const double work = method.method->Work(rows, data.table.values.cols() - 1);
        units.push_back({dataset, split, &method, work});
      }
    }
  }
  if (units.empty()) {
    ThrowError("the study has nothing to run with these datasets, methods and splits (there are ",
               most_splits, " splits, from 0 to ", most_splits - 1, "); name others");
  }
  std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
    return a.split != b.split ? a.split < b.split : a.work > b.work;
  });
  return units;
}

void CheckSettings(const std::vector<Unit>& units, IfChanged if_changed, ResultsFile* results) {
  if (if_changed == IfChanged::kKeep) return;
  std::map<UnitKey, nlohmann::json> settings;
  for (const Unit& unit : units) settings[unit.Key()] = unit.method->method->Settings();
  const auto changed = [&](const UnitRecord& record) {
    const auto found = settings.find(record.key());
    return found != settings.end() && SettingsOf(record) != found->second;
  };
  if (if_changed == IfChanged::kRedo) return results->RemoveIf(changed);
  for (const UnitRecord& record : results->records()) {
    if (!changed(record)) continue;
    ThrowError(results->path(), ": holds results of method ", Quoted(record.method),
               " with another setting of ",
               Quoted(FirstDifference(SettingsOf(record), settings[record.key()])),
               "; give --if-changed keep or redo, or another --out");
  }
}

}  // namespace fathom::cli
