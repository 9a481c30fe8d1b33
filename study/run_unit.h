// The unit of work of an experiment: one method on one split of one dataset.
#ifndef FATHOM_STUDY_RUN_UNIT_H_
#define FATHOM_STUDY_RUN_UNIT_H_

#include <nlohmann/json_fwd.hpp>

#include "study/data_folder.h"
#include "study/predictor.h"

namespace fathom {

// Fits the method to the train rows of the split, as 'fathom fit' would if their table were all
// there is, and scores the test rows:
//   {"scores": {...}, "unseen": {...}, "train_rows": ..., "test_rows": ..., "inputs": ...,
//    "fit_seconds": ...}
// "unseen" are the scores of the test rows that do not also occur among the train rows, and is
// there if some do; seconds are of CPU. Throws NumericalError if a score is not finite, and what
// the method throws.
nlohmann::ordered_json RunUnit(const SplitData& data, const Split& split, const Method& method);

}  // namespace fathom

#endif  // FATHOM_STUDY_RUN_UNIT_H_
