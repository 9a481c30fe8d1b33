// Figures of scores.
#ifndef FATHOM_EXPERIMENT_RANK_DIAGRAM_H_
#define FATHOM_EXPERIMENT_RANK_DIAGRAM_H_

#include <string>
#include <vector>

#include "fathom/experiment/score_table.h"

namespace fathom {

// Demšar's critical-difference diagram as SVG: methods at their mean ranks, best on the left, and
// bars over those that Nemenyi's test does not tell apart.
std::string RankDiagram(const ScoreTable& table, const TableRanks& ranks);

// The maximal runs [first, last] of ascending mean ranks that span less than the critical
// difference; runs of one are left out.
std::vector<std::pair<Index, Index>> IndistinctRuns(const Vector& ascending, double difference);

// A panel per dataset, a line in it per method: mean and standard error.
std::string ScoreFigure(const ScoreTable& table);

}  // namespace fathom

#endif  // FATHOM_EXPERIMENT_RANK_DIAGRAM_H_
