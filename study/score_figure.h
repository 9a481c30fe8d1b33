// The scores of a study as a figure.
#ifndef FATHOM_STUDY_SCORE_FIGURE_H_
#define FATHOM_STUDY_SCORE_FIGURE_H_

#include <string>

#include "study/score_table.h"

namespace fathom {

// SVG with a panel per dataset and a line in it per method: mean and standard error.
std::string ScoreFigure(const ScoreTable& table);

}  // namespace fathom

#endif  // FATHOM_STUDY_SCORE_FIGURE_H_
