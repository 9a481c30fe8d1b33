// Scores with their names and meanings, the same in every command.
#ifndef FATHOM_CLI_SCORE_LINES_H_
#define FATHOM_CLI_SCORE_LINES_H_

#include <vector>

#include "fathom/evaluate/metrics.h"

namespace fathom::cli {

struct ScoreLine {
  const char* key;
  double value;
  const char* meaning;
};

std::vector<ScoreLine> ScoreLines(const Scores& scores);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_SCORE_LINES_H_
