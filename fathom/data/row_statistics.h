// What is to be known of all rows before a training begins.
#ifndef FATHOM_DATA_ROW_STATISTICS_H_
#define FATHOM_DATA_ROW_STATISTICS_H_

#include <functional>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/data/dataset.h"
#include "fathom/data/standardize.h"

namespace fathom FATHOM_PUBLIC {

class Communicator;

struct RowStatistics {
  Index rows = 0;
  Vector low = {}, high = {};    // [width] of the means of input cells; NaN if all are missing
  Vector missing = {};           // [width] 1 where a cell is missing, else 0
  Vector largest_var = {};       // [width] of input cells; 0 if all are missing
  Vector least = {}, most = {};  // [targets]; infinite if all are missing
  // [rows / stride, targets]: the targets of every stride-th row, so many that they fit into little
  // memory.
  Matrix target_sample = {};
  Scaler input_scaler = {}, target_scaler = {};
};

// Rows that are held here, and where they stand among all.
struct HeldRows {
  const Dataset& head;  // without rows
  Index rows = 0;       // of all ranks
  Index first = 0;      // the first one that is held here
  std::function<void(const std::function<void(const Dataset& block)>& visit)> for_each_block;
};

// Two passes over the rows. All ranks call it together, each with its own rows; the result is that
// of all at rank 0, and worth nothing elsewhere. It has the same bits for any number of ranks.
RowStatistics CollectStatistics(const HeldRows& held, const Communicator& ranks);

}  // namespace fathom

#endif  // FATHOM_DATA_ROW_STATISTICS_H_
