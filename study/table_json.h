// Tables of scores as JSON; docs/reference/json.md explains every field.
#ifndef FATHOM_STUDY_TABLE_JSON_H_
#define FATHOM_STUDY_TABLE_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "study/score_table.h"
#include "study/table_text.h"

namespace fathom {

// Every cell that has a value or a failure, and the ranks.
nlohmann::ordered_json ScoreTableJson(const ScoreTable& table);
nlohmann::ordered_json DetailsJson(const std::vector<UnitSummary>& units);

// Which unit failed and why; and the same for all records that are failures.
nlohmann::ordered_json FailureJson(const UnitRecord& record);
nlohmann::ordered_json FailuresJson(const std::vector<UnitRecord>& records);

}  // namespace fathom

#endif  // FATHOM_STUDY_TABLE_JSON_H_
