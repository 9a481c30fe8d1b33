// What the columns of a table are for: the way from a table to the numbers that a model sees, the
// same in training and in prediction.
#ifndef FATHOM_DATA_SCHEMA_H_
#define FATHOM_DATA_SCHEMA_H_

#include <functional>
#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/data/date_parts.h"
#include "fathom/data/read_table.h"
#include "fathom/data/table.h"

namespace fathom FATHOM_PUBLIC {

struct TableSurvey;

// What the targets are.
enum class Task {
  kAuto,      // classes if the target holds strings, else numbers
  kRegress,   // numbers
  kClassify,  // the names of classes, even where they look like numbers
};

// What a user asks of the columns of a training table, by name or number.
struct Roles {
  std::vector<std::string> targets = {};      // to be predicted
  std::vector<std::string> ignore = {};       // left out
  std::vector<std::string> categorical = {};  // strings, even where they look like numbers
  std::string weights = {};                   // how much each row counts; empty: all the same
  Task task = Task::kAuto;
  bool ignore_dates = false;        // leave columns of dates out
  bool weights_are_counts = false;  // of rows; else only the ratios of the weights matter
};

struct InputColumn {
  std::string name;
  std::vector<std::string> levels = {};  // of a categorical column, in order; empty: numbers
  CellFormat format = {};                // how its cells were written
  std::vector<DatePart> parts = {};      // of a column of dates
  double first_date = 0;                 // of the training table, in days since 1970-01-01

  // The numbers that the model sees for it: one, or an indicator (0 or 1) per level; two levels
  // need but one indicator, of the second. Of a date, its parts.
  Index width() const {
    if (!parts.empty()) return static_cast<Index>(parts.size());
    return levels.size() <= 2 ? 1 : static_cast<Index>(levels.size());
  }
  bool operator==(const InputColumn&) const = default;
};

struct Schema {
  std::vector<InputColumn> inputs;   // in the order in which the model sees them
  std::vector<std::string> targets;  // in the order of the model's outputs
  std::string weights;               // the column of weights in training; empty: none
  Index unnamed_columns = 0;         // columns of the training file, if it had no names
  // Names the classes of the one target in the order of their numbers; empty if targets are
  // numbers.
  std::vector<std::string> classes = {};
  std::vector<CellFormat> target_formats = {};  // [targets], or empty if all are plain
  bool weights_are_counts = false;
  std::vector<std::string> missing = {};  // words for a missing cell, beside the usual ones

  CellFormat FormatOfTarget(std::size_t target) const {
    return target < target_formats.size() ? target_formats[target] : CellFormat{};
  }
  // Whether the target is one of `classes`, not a number.
  bool has_classes() const { return !classes.empty(); }
  Index width() const;                            // numbers that the model sees per row
  std::vector<std::string> FeatureNames() const;  // [width]: 'age', 'colour=red', 'colour=blue'

  bool operator==(const Schema&) const = default;
};

// A schema of plain numbers, for data that come from no file.
Schema NumericSchema(const std::vector<std::string>& inputs,
                     const std::vector<std::string>& targets);

// Decides from the training table what every column is for. Columns that cannot help are left out
// with a note: those that never vary, that are empty, that repeat another one, or that hold a
// string of its own in every row. Throws Error with advice for columns that a model cannot use as
// they are: strings with more than 100 levels or nearly as many as rows, weights that are strings,
// several targets of which one is, and targets of one class only; and for columns that are not
// there or named in two roles.
Schema MakeSchema(const Table& table, const Roles& roles, std::vector<Note>* notes);
// The same for a table whose rows are elsewhere. same(a, b) says whether two columns have the same
// cells; it is asked where their facts cannot tell them apart.
using SameColumns = std::function<bool(Index a, Index b)>;
Schema MakeSchema(const Table& head, const TableSurvey& survey, const SameColumns& same,
                  const Roles& roles, std::vector<Note>* notes);
// Whether columns a and b of some rows have the same cells, missing ones included.
bool SameCells(const Matrix& rows, Index a, Index b);

// How a training table is to be read for these roles, and a table for prediction by a schema.
ReadOptions ReadingFor(const Roles& roles, ReadOptions options);
// `targets_may_be_anything`: where a target is no number, it counts as missing.
ReadOptions ReadingFor(const Schema& schema, ReadOptions options,
                       bool targets_may_be_anything = false);

}  // namespace fathom

#endif  // FATHOM_DATA_SCHEMA_H_
