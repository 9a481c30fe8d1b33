// Tables made of what Python holds: arrays of numbers, and columns of objects.
#ifndef FATHOM_PYTHON_SRC_TABLES_H_
#define FATHOM_PYTHON_SRC_TABLES_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "fathom/data/dataset.h"
#include "fathom/data/table.h"

namespace fathom::python {

// A look at the numbers of an array with two axes, in whatever order they lie in memory.
class ArrayView {
 public:
  explicit ArrayView(const pybind11::array& array);

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  // Rows first, first + 1, ... into *values, from its column `place` on.
  void Copy(Index first, Index count, Index place, Matrix* values) const;
  // The given columns of these rows as certain numbers; NaN is a missing cell. False if one of the
  // numbers is infinite.
  bool Copy(Index first, Index count, const std::vector<Index>& columns, Moments* values) const;

 private:
  const char* data_;
  Index rows_, columns_;
  Index row_step_, column_step_;  // in bytes
};

// The columns that a model wants of an array.
struct ArrayColumns {
  std::vector<std::string> names;  // of all columns
  // Where the inputs of the model stand if each of them is a plain number; else empty.
  std::vector<Index> plain = {};
};

// Rows for a model to predict: a table, or an array whose columns are named.
class Rows {
 public:
  // `rows` is a Table or an array of float64.
  Rows(const pybind11::object& rows, const ArrayColumns& array_columns);

  Index size() const { return table_ ? table_->values.rows() : view_->rows(); }
  // Some of the rows as a model with this schema wants them. An array is copied piece by piece, so
  // that a long one needs no memory of ours.
  Moments Read(const Schema& schema, const InputStd& std, Index first, Index count) const;
  const Table* table() const { return table_; }

 private:
  const ArrayColumns& array_columns_;
  const Table* table_ = nullptr;
  std::optional<ArrayView> view_;
};

// The name of what an array, which has no name of its own, is called in messages.
inline constexpr const char* kSource = "X";

void BindTables(pybind11::module_* module);

}  // namespace fathom::python

#endif  // FATHOM_PYTHON_SRC_TABLES_H_
