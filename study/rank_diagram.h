// Demšar's diagram of mean ranks.
#ifndef FATHOM_STUDY_RANK_DIAGRAM_H_
#define FATHOM_STUDY_RANK_DIAGRAM_H_

#include <string>
#include <utility>
#include <vector>

#include "study/score_table.h"

namespace fathom {

// The critical-difference diagram as SVG: methods at their mean ranks, best on the left, and
// bars over those that Nemenyi's test does not tell apart.
std::string RankDiagram(const ScoreTable& table, const TableRanks& ranks);

// The maximal runs [first, last] of ascending mean ranks that span less than the critical
// difference; runs of one are left out.
std::vector<std::pair<Index, Index>> IndistinctRuns(const Vector& ascending, double difference);

}  // namespace fathom

#endif  // FATHOM_STUDY_RANK_DIAGRAM_H_
