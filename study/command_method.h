// Any program as a method of experiments.
#ifndef FATHOM_STUDY_COMMAND_METHOD_H_
#define FATHOM_STUDY_COMMAND_METHOD_H_

#include <memory>
#include <string>

#include "fathom/data/table.h"
#include "study/predictor.h"

namespace fathom {

// The shell runs `command` with the name of a folder as its last argument. The folder holds
// train.csv, the inputs and, last, the target; and test.csv, the inputs alone. The program writes
// predictions.csv there, a header and one row for each row of test.csv, as ReadPrediction wants it.
// Exit code 77 says that something it needs is not installed; its last line on standard error
// becomes the reason.
std::unique_ptr<Method> CommandMethod(const std::string& command);

// What the columns of a table predict, by their names:
//   mean, std              a Gaussian
//   q05, q5, q975, ...     quantiles at 0.05, 0.5, 0.975: see PredictionOfQuantiles
//   anything else          samples, each the middle of a Gaussian whose width is Silverman's rule
// Throws Error, naming the table, if that is nothing to predict with.
Prediction ReadPrediction(const Table& table);

}  // namespace fathom

#endif  // FATHOM_STUDY_COMMAND_METHOD_H_
