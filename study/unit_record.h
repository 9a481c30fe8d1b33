// What a study records of a unit, one method on one split of one dataset: a line of JSON in
// results.jsonl. docs/reference/studies.md explains the fields.
#ifndef FATHOM_STUDY_UNIT_RECORD_H_
#define FATHOM_STUDY_UNIT_RECORD_H_

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/evaluate/score_kinds.h"

namespace fathom {

// What names a unit; a study has at most one record for each: dataset, split, method.
using UnitKey = std::tuple<std::string, Index, std::string>;

struct UnitScores {
  std::optional<Index> rows;                           // that were scored
  std::vector<std::pair<std::string, double>> values;  // by name, in the order of the record

  // The score, by either of its names; NaN if it was not recorded.
  double Get(const ScoreKind& kind) const;
  double Get(std::string_view name) const { return Get(*FindScore(name)); }
  bool Has(const ScoreKind& kind) const;

  bool operator==(const UnitScores&) const = default;
};

// What the process of a unit finds out: scores, or why there are none.
struct UnitOutcome {
  std::optional<std::string> failure = {};
  std::optional<UnitScores> scores = {};  // of all test rows
  // The scores of the test rows that do not also occur among the train rows, if some do.
  std::optional<UnitScores> unseen = {};
  std::optional<Index> train_rows = {}, test_rows = {}, inputs = {};
  std::optional<double> fit_seconds = {};  // of CPU
  nlohmann::ordered_json findings = {};    // see Predictor::Findings; null: none

  bool operator==(const UnitOutcome&) const = default;
};

struct UnitRecord {
  std::string study = {}, dataset = {};
  Index split = 0;
  std::string method = {};
  UnitOutcome outcome = {};
  nlohmann::ordered_json settings = {};  // of the method, see Method::Settings; null: not recorded
  std::optional<double> cpu_seconds = {}, wall_seconds = {};
  std::optional<std::int64_t> peak_memory = {};  // bytes
  std::string commit = {}, machine = {}, date = {};
  nlohmann::ordered_json others = {};  // fields that this program does not know, kept as they are

  UnitKey key() const { return {dataset, split, method}; }
  bool failed() const { return outcome.failure.has_value(); }
  bool Has(const ScoreKind& kind) const { return outcome.scores && outcome.scores->Has(kind); }

  bool operator==(const UnitRecord&) const = default;
};

// One line of JSON, without its end. Writing what was read gives the same bytes for every line that
// a program of ours has written.
std::string WriteRecord(const UnitRecord& record);
// Nothing if the line is not a record.
std::optional<UnitRecord> ReadRecord(std::string_view line);

// The same for an outcome, which a unit's process hands to the one that keeps the results.
std::string WriteOutcome(const UnitOutcome& outcome);
std::optional<UnitOutcome> ReadOutcome(std::string_view text);

// The settings in which two records may differ whatever the order of their entries; an object
// without entries where the record has none.
nlohmann::json SettingsOf(const UnitRecord& record);
// The path of the first setting in which they differ, "optimizer/steps"; empty if there is none.
std::string FirstDifference(const nlohmann::json& settings, const nlohmann::json& others);

}  // namespace fathom

#endif  // FATHOM_STUDY_UNIT_RECORD_H_
