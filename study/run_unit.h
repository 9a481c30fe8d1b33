// The unit of work of an experiment: one method on one split of one dataset.
#ifndef FATHOM_STUDY_RUN_UNIT_H_
#define FATHOM_STUDY_RUN_UNIT_H_

#include "study/data_folder.h"
#include "study/predictor.h"
#include "study/unit_record.h"

namespace fathom {

// Fits the method to the train rows of the split, as 'fathom fit' would if their table were all
// there is, and scores the test rows. Throws NumericalError if a score is not finite, and what the
// method throws.
UnitOutcome RunUnit(const SplitData& data, const Split& split, const Method& method);

}  // namespace fathom

#endif  // FATHOM_STUDY_RUN_UNIT_H_
