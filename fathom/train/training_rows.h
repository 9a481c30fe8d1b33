// The rows of a dataset as a network in training sees them: scaled once if they are in memory, or
// whenever they are read.
#ifndef FATHOM_TRAIN_TRAINING_ROWS_H_
#define FATHOM_TRAIN_TRAINING_ROWS_H_

#include "fathom/data/dataset_rows.h"
#include "fathom/inference/row_source.h"
#include "fathom/train/network_in_training.h"

namespace fathom {

// Some rows, scaled.
struct ScaledRows {
  Moments x;
  Matrix y;
  Vector weights = {};  // [rows], or empty: one each
};

ScaledRows ScaleRows(const NetworkInTraining& network, const Dataset& rows);

class TrainingRows {
 public:
  // Keeps a reference to the rows. Throws Error for targets that the likelihood cannot explain.
  TrainingRows(const DatasetRows& rows, const NetworkInTraining& network);

  Index rows() const { return rows_.rows(); }  // of all ranks
  const Communicator& ranks() const { return rows_.ranks(); }
  const ScaledRows* in_memory() const { return in_memory_ ? &here_ : nullptr; }
  // Reads rows that are not in memory. Refers to this object.
  RowReader Reader() const;
  // The rows that are held here, where there are other ranks that hold some. Refers to this object.
  RowsInPlace InPlace() const;

 private:
  const DatasetRows& rows_;
  NetworkInTraining network_;  // as it begins: its scalers and its likelihood stay
  bool in_memory_;
  ScaledRows here_;
  TableFacts facts_;
};

}  // namespace fathom

#endif  // FATHOM_TRAIN_TRAINING_ROWS_H_
