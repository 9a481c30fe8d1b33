// Datasets that need no files.
#ifndef FATHOM_STUDY_MADE_DATA_H_
#define FATHOM_STUDY_MADE_DATA_H_

#include <string>

#include "study/data_folder.h"

namespace fathom {

bool CanMakeData(const std::string& name);

// mountain_car: 2400 noisy evaluations (standard deviation 2) of the value function of
// study/mountain_car.h, at random states; each of ten splits trains on 400 of them, as in the demo.
//
// year_made: a stand-in for YearPredictionMSD, for whoever has not got the file. As many rows
// (463,715 to train on, then 51,630 to test on), 90 correlated columns of very different scales,
// and a skewed whole number from 1922 to 2011 whose mean and deviation are those of the songs and
// of which the columns explain a third. Its scores say nothing about songs.
//
// All others are tables of study/honest_data.h.
//
// The same bits everywhere.
SplitData MakeData(const std::string& name);

}  // namespace fathom

#endif  // FATHOM_STUDY_MADE_DATA_H_
