// Rows of inputs and targets, checked once and not changed afterwards.
#ifndef FATHOM_DATA_DATASET_H_
#define FATHOM_DATA_DATASET_H_

#include <span>
#include <string>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/data/table.h"

namespace fathom {

struct Dataset {
  std::string source;                     // the file's name, for messages
  std::vector<std::string> input_names;   // [D]
  std::vector<std::string> target_names;  // [T]
  // [N, D] in the units of the file. A known cell has variance 0. A missing cell has mean and
  // variance NaN: what stands in for it depends on the training data, and StandardizeInputs
  // decides it.
  Moments inputs;
  Matrix targets;          // [N, T]; T may be 0
  Index dropped_rows = 0;  // rows of the table left out because a target was missing

  Index rows() const { return inputs.rows(); }
};

// For training: `targets` (by name or number) are predicted from all other columns. Rows without a
// target are dropped. Throws Error if a target is not there or named twice, if no input column or
// no row is left.
Dataset MakeDataset(const Table& table, const std::vector<std::string>& targets);

// For prediction: the columns `input_names` in that order; other columns are ignored. The targets
// are taken if the table has all of `target_names`, and may then be NaN in rows without one; no row
// is dropped. Throws Error naming the input columns that are missing.
Dataset SelectInputs(const Table& table, const std::vector<std::string>& input_names,
                     const std::vector<std::string>& target_names = {});

// The given rows in the given order; a row may appear more than once.
Dataset Subset(const Dataset& dataset, std::span<const Index> rows);

}  // namespace fathom

#endif  // FATHOM_DATA_DATASET_H_
