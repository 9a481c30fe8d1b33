// The made tables of the study `honest`: small tables of many natures, for which a method must
// never be silently wrong.
#ifndef FATHOM_STUDY_HONEST_DATA_H_
#define FATHOM_STUDY_HONEST_DATA_H_

#include <string>
#include <vector>

#include "study/data_folder.h"

namespace fathom {

// "counts_poisson_100": the nature of the target and the number of training rows.
std::vector<std::string> HonestNames();

// Four splits, each with training rows of its own and 1000 test rows of its own. Most have four
// inputs, uniform on (0, 1), the last of which matters little. The same bits everywhere. The name
// is one of HonestNames().
SplitData MakeHonestData(const std::string& name);

}  // namespace fathom

#endif  // FATHOM_STUDY_HONEST_DATA_H_
