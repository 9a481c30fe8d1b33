#include "study/units.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "fathom/base/error.h"

namespace fathom {

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

std::vector<Unit> UnitsLeft(const std::vector<Unit>& units,
                            const std::vector<UnitRecord>& records) {
  std::set<UnitKey> done;
  for (const UnitRecord& record : records) done.insert(record.key());
  std::vector<Unit> left;
  std::copy_if(units.begin(), units.end(), std::back_inserter(left),
               [&](const Unit& unit) { return !done.contains(unit.key()); });
  return left;
}

ChangedSettings::ChangedSettings(const std::vector<Unit>& units) {
  for (const Unit& unit : units) settings_[unit.key()] = unit.method->method->Settings();
}

bool ChangedSettings::IsChanged(const UnitRecord& record) const {
  const auto found = settings_.find(record.key());
  return found != settings_.end() && SettingsOf(record) != found->second;
}

std::string ChangedSettings::Setting(const UnitRecord& record) const {
  return IsChanged(record) ? FirstDifference(SettingsOf(record), settings_.at(record.key())) : "";
}

}  // namespace fathom
