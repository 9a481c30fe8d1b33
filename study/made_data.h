// Datasets that need no files.
#ifndef FATHOM_STUDY_MADE_DATA_H_
#define FATHOM_STUDY_MADE_DATA_H_

#include <string>

#include "study/data_folder.h"

namespace fathom {

bool CanMakeData(const std::string& name);

// mountain_car: 2400 noisy evaluations (standard deviation 2) of the value function of
// study/mountain_car.h, at random states; each of ten splits trains on 400 of them, as in the demo.
// All others are tables of study/honest_data.h.
// The same bits everywhere.
SplitData MakeData(const std::string& name);

}  // namespace fathom

#endif  // FATHOM_STUDY_MADE_DATA_H_
