// The units of work of a study.
#ifndef FATHOM_STUDY_UNITS_H_
#define FATHOM_STUDY_UNITS_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "study/study.h"
#include "study/unit_record.h"

namespace fathom {

struct Unit {
  std::string dataset;
  Index split = 0;
  const StudyMethod* method = nullptr;  // of the study
  double work = 0;                      // see Method::Work

  UnitKey key() const { return {dataset, split, method->name}; }
};

// Reads every dataset once, so that what is wrong with one is told before hours of work. Splits
// come in turn, so that a study that is cut has all datasets; within a split the longest unit is
// first.
std::vector<Unit> ListUnits(const Study& study, const std::string& data_folder);

// Those that have no record, in their order.
std::vector<Unit> UnitsLeft(const std::vector<Unit>& units, const std::vector<UnitRecord>& records);

// Finds results of the units whose method had other settings then.
class ChangedSettings {
 public:
  explicit ChangedSettings(const std::vector<Unit>& units);

  bool IsChanged(const UnitRecord& record) const;
  // The path of the first setting in which the record differs; empty if it does not.
  std::string Setting(const UnitRecord& record) const;

 private:
  std::map<UnitKey, nlohmann::json> settings_;  // as they are now
};

}  // namespace fathom

#endif  // FATHOM_STUDY_UNITS_H_
