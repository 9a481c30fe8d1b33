// Rows of inputs and targets, checked once and not changed afterwards.
#ifndef FATHOM_DATA_DATASET_H_
#define FATHOM_DATA_DATASET_H_

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/data/schema.h"
#include "fathom/data/table.h"

namespace fathom FATHOM_PUBLIC {

// What a dataset is made of.
struct DatasetParts {
  std::string source = "data";  // the file's name, for messages
  Schema schema;                // for rows that come from no table: see NumericSchema
  // [N, schema.width()] in the units of the file. A cell has variance 0 unless a standard deviation
  // was given. A missing cell has mean and variance NaN: what stands in for it depends on the
  // training data, and StandardizeInputs decides it.
  Moments inputs;
  // [N, targets of the schema], or [N, 0] where they are not known. Classes are their places in
  // schema.classes. NaN where a target is missing; the row then teaches the others.
  Matrix targets;
  Vector weights = {};                 // [N], how many rows each counts as; empty: one
  Index dropped_rows = 0;              // rows of the table left out, for whatever reason
  std::vector<Note> notes = {};        // what the user should know
  std::vector<Index> table_rows = {};  // [N] for training: the row of the table that each row was
};

// A dataset is consistent and does not change. Copies are cheap: they share their numbers.
class Dataset {
 public:
  // Throws Error, naming the source and the numbers, unless the parts fit together: equal numbers
  // of rows, as many columns as the schema has names, no name twice, no infinite cell, variances
  // and weights that can be, and classes that the schema has. Implicit, so that parts can stand
  // wherever a dataset is wanted.
  Dataset(DatasetParts parts);  // NOLINT(google-explicit-constructor)

  Index rows() const { return parts_->inputs.rows(); }
  const std::string& source() const { return parts_->source; }
  const Schema& schema() const { return parts_->schema; }
  const Moments& inputs() const { return parts_->inputs; }
  const Matrix& targets() const { return parts_->targets; }
  const Vector& weights() const { return parts_->weights; }
  Index dropped_rows() const { return parts_->dropped_rows; }
  const std::vector<Note>& notes() const { return parts_->notes; }
  const std::vector<Index>& table_rows() const { return parts_->table_rows; }
  const DatasetParts& parts() const { return *parts_; }

 private:
  std::shared_ptr<const DatasetParts> parts_;
};

// Standard deviations of input cells, in the units of the file.
struct InputStd {
  std::vector<std::pair<std::string, double>> columns;  // the same in all rows of a column
  // By row; a cell that is empty, and a column that is not there, has none. Adds to `columns` as
  // independent errors do.
  Table cells = {};
};

struct TableSurvey;

// For training: the rows of `table` as the schema wants them. Rows without any target and rows of
// weight 0 are left out with a note; rows that lack some of the targets stay. Throws Error if no
// row is left, and for a weight that is negative or missing. `notes` are put before those that this
// adds.
Dataset MakeDataset(const Table& table, const Schema& schema, const InputStd& std = {},
                    std::vector<Note> notes = {});
// The same with the schema that MakeSchema finds.
Dataset MakeDataset(const Table& table, const Roles& roles, const InputStd& std = {});
// `targets` (by name or number) are predicted from all other columns.
Dataset MakeDataset(const Table& table, const std::vector<std::string>& targets);

// For prediction: the rows of a table as a model with this schema wants them, columns found by
// their names. The targets are there if the table has all of them, and may then be NaN; no row is
// left out. A text that the training has not seen counts as missing, with a note, in an input as in
// a target of classes.
class InputRows {
 public:
  // Keeps a reference to the table. Throws Error naming the input columns that are missing.
  InputRows(const Table& table, const Schema& schema, const InputStd& std = {});

  // For rows that are elsewhere: `head` is their table without them, and `survey` what is known of
  // all of them. Keeps references to both. Standard deviations are those of whole columns.
  InputRows(const Table& head, const TableSurvey& survey, const Schema& schema,
            const InputStd& std = {});

  Index rows() const;
  bool has_targets() const { return target_places_.size() == schema_.targets.size(); }
  const std::vector<Note>& notes() const { return notes_; }
  // Rows first, first + 1, ...: so that a long table needs no second copy. The notes are those of
  // the whole table.
  Dataset Read(Index first, Index count) const;
  Dataset Read() const { return Read(0, rows()); }
  // Source, schema, inputs and targets of the given rows of `cells`, whose columns are the table's.
  DatasetParts Pick(const Matrix& cells, std::span<const Index> rows) const;
  // [targets]: their columns in the table.
  const std::vector<Index>& target_places() const { return target_places_; }

 private:
  struct Source {
    Index place;  // of the column in the table
    std::vector<Index>
        levels;           // of a categorical column: the table's levels in the schema's, or -1
    double variance = 0;  // of all cells
    Index cell_std = -1;  // the column of std_cells_ with a deviation per cell
  };

  Index KnownCells(Index column) const;
  std::vector<Index> CellsOfLevels(Index column) const;
  void FindColumns();
  [[noreturn]] void ThrowMissing(const std::vector<std::string>& missing) const;
  void FindLevels(const InputColumn& input, Source* source);
  void FindClasses();
  void FindStd(const InputStd& std);
  double VarianceOf(const Source& source, Index row) const;
  Moments ReadInputs(const Matrix& cells, std::span<const Index> picked) const;
  Matrix ReadTargets(const Matrix& cells, std::span<const Index> picked) const;

  const Table& table_;
  const TableSurvey* survey_ = nullptr;  // null: the rows are in the table
  Schema schema_;
  Matrix std_cells_;
  std::vector<Source> sources_;  // [schema.inputs]
  std::vector<Index> target_places_;
  std::vector<double> class_of_level_;  // of the table's levels of a target; NaN if it is unseen
  std::vector<Note> notes_;
};

// The given rows in the given order; a row may appear more than once.
Dataset Subset(const Dataset& dataset, std::span<const Index> rows);

}  // namespace fathom

#endif  // FATHOM_DATA_DATASET_H_
