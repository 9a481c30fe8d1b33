#include "python/src/tables.h"

#include <pybind11/stl.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <unordered_map>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/bits.h"
#include "fathom/data/text_column.h"

namespace fathom::python {

namespace py = pybind11;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// None, a float that is NaN, and what pandas has in their place.
bool IsMissing(PyObject* cell) {
  if (cell == Py_None) return true;
  if (PyFloat_Check(cell)) return std::isnan(PyFloat_AS_DOUBLE(cell));
  const std::string_view type = Py_TYPE(cell)->tp_name;
  return type.ends_with("NAType") || type.ends_with("NaTType");
}

std::string TextOf(PyObject* cell) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(cell, &size);
  if (text == nullptr) throw py::error_already_set();
  return {text, static_cast<std::size_t>(size)};
}

bool IsTruth(PyObject* cell) {
  const std::string_view type = Py_TYPE(cell)->tp_name;
  return PyBool_Check(cell) != 0 || type == "numpy.bool_" || type == "numpy.bool";
}

// Reads the objects of one column: all numbers, or all strings and truth values.
class ObjectColumn {
 public:
  ObjectColumn(Index column, Table* table) : column_(column), table_(*table) {}

  // `format`: that of the model; null: found out if `find`, else strings are names.
  void Read(const py::sequence& cells, const CellFormat* format, bool find) {
    const auto rows = static_cast<Index>(py::len(cells));
    FATHOM_CHECK(rows == table_.values.rows());
    codes_.assign(static_cast<std::size_t>(rows), -1);
    for (Index n = 0; n < rows; ++n) {
      const py::object cell = cells[static_cast<std::size_t>(n)];
      table_.values(n, column_) = kNaN;
      if (!IsMissing(cell.ptr())) ReadCell(n, cell);
    }
    if (texts_.empty()) return;
    if (format != nullptr) {
      PutWrittenValues(*format, texts_, codes_, column_, &table_);
    } else if (!find || !PutWrittenValues(texts_, codes_, column_, &table_)) {
      PutTexts(texts_, codes_, column_, &table_);
    }
  }

 private:
  void ReadCell(Index n, const py::object& cell) {
    if (PyUnicode_Check(cell.ptr()) || IsTruth(cell.ptr())) {
      AddText(n, TextOf(py::str(cell).ptr()));
      RequireOneKind(n);
      return;
    }
    const double number = PyFloat_AsDouble(cell.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw py::type_error(Place(n) + "the cell holds a " + Py_TYPE(cell.ptr())->tp_name +
                           "; the argument must be a string or a number");
    }
    table_.values(n, column_) = number;
    if (number_row_ < 0 && !std::isnan(number)) number_row_ = n;
    RequireOneKind(n);
  }

  void AddText(Index n, std::string text) {
    const auto [place, is_new] =
        places_.try_emplace(std::move(text), static_cast<Index>(texts_.size()));
    if (is_new) texts_.push_back(place->first);
    codes_[static_cast<std::size_t>(n)] = place->second;
  }

  void RequireOneKind(Index n) const {
    if (texts_.empty() || number_row_ < 0) return;
    ThrowError(Place(n), "the column holds numbers and strings such as ", Quoted(texts_.front()),
               "; correct the cells, or make all of them strings with astype(str)");
  }

  std::string Place(Index n) const {
    return table_.source + ": row " + std::to_string(n + 1) + ", column " +
           Quoted(table_.columns[column_]) + ": ";
  }

  Index column_;
  Table& table_;
  std::unordered_map<std::string, Index> places_;
  std::vector<std::string> texts_;
  std::vector<Index> codes_;
  Index number_row_ = -1;
};

std::unique_ptr<Table> NewTable(const std::string& source, Index rows,
                                const std::vector<std::string>& columns, Index unnamed_columns) {
  auto table = std::make_unique<Table>();
  table->source = source;
  table->columns = columns;
  table->unnamed_columns = unnamed_columns;
  table->values.setConstant(rows, static_cast<Index>(columns.size()), kNaN);
  return table;
}

void SetNumbers(Table* table, Index column, const py::array& values) {
  const ArrayView view(values);
  FATHOM_CHECK(view.rows() == table->values.rows() &&
               column + view.columns() <= table->values.cols());
  view.Copy(0, view.rows(), column, &table->values);
}

void SetCategories(Table* table, Index column, const std::vector<std::string>& texts,
                   const py::array_t<Index, py::array::c_style | py::array::forcecast>& codes) {
  PutTexts(texts, {codes.data(), static_cast<std::size_t>(codes.size())}, column, table);
}

}  // namespace

ArrayView::ArrayView(const py::array& array) : data_(static_cast<const char*>(array.data())) {
  FATHOM_CHECK(array.ndim() == 2 && py::isinstance<py::array_t<double>>(array));
  rows_ = array.shape(0);
  columns_ = array.shape(1);
  row_step_ = array.strides(0);
  column_step_ = array.strides(1);
}

void ArrayView::Copy(Index first, Index count, Index place, Matrix* values) const {
  for (Index n = 0; n < count; ++n) {
    const char* cell = data_ + (first + n) * row_step_;
    double* to = values->data() + n * values->cols() + place;
    for (Index c = 0; c < columns_; ++c, cell += column_step_)
      std::memcpy(to + c, cell, sizeof(double));  // it may be unaligned
  }
}

bool ArrayView::Copy(Index first, Index count, const std::vector<Index>& columns,
                     Moments* values) const {
  values->SetZero(count, std::ssize(columns));
  bool infinite = false;
  for (Index n = 0; n < count; ++n) {
    const char* row = data_ + (first + n) * row_step_;
    double* mean = values->mean.data() + n * values->cols();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      std::memcpy(mean + c, row + columns[c] * column_step_, sizeof(double));
      // x - x is 0 for a number, and NaN for NaN and the infinite.
      const double zero = mean[c] - mean[c];
      if (zero == 0) continue;
      infinite = infinite || !std::isnan(mean[c]);
      values->var(n, static_cast<Index>(c)) = zero;
    }
  }
  return !infinite;
}

Rows::Rows(const py::object& rows, const ArrayColumns& array_columns)
    : array_columns_(array_columns) {
  if (py::isinstance<Table>(rows)) {
    table_ = rows.cast<const Table*>();
  } else {
    view_.emplace(rows.cast<py::array>());
    FATHOM_CHECK(std::cmp_equal(array_columns.names.size(), view_->columns()));
  }
}

Moments Rows::Read(const Schema& schema, const InputStd& std, Index first, Index count) const {
  if (table_) return InputRows(*table_, schema, std).Read(first, count).inputs();
  Moments inputs;
  if (!array_columns_.plain.empty() && std.columns.empty() && std.cells.columns.empty() &&
      view_->Copy(first, count, array_columns_.plain, &inputs))
    return inputs;
  Table piece;
  piece.source = kSource;
  piece.columns = array_columns_.names;
  piece.values.resize(count, view_->columns());
  view_->Copy(first, count, 0, &piece.values);
  return InputRows(piece, schema, std).Read().inputs();
}

void BindTables(py::module_* module) {
  py::class_<CellFormat>(*module, "CellFormat", "How the cells of a column are written.")
      .def_property_readonly("kind", [](const CellFormat& format) { return NameOf(format.kind); })
      .def("__str__", &DescribeFormat);
  py::class_<Table>(*module, "Table", "Named columns of numbers and strings.")
      .def(py::init(&NewTable), py::arg("source"), py::arg("rows"), py::arg("columns"),
           py::arg("unnamed_columns") = 0)
      .def_readonly("columns", &Table::columns)
      .def_property_readonly("rows", [](const Table& table) { return table.values.rows(); })
      .def("levels", &Table::LevelsOf, py::arg("column"),
           "The different strings of a column; empty if it holds numbers.")
      .def("set_numbers", &SetNumbers, py::arg("column"), py::arg("values"),
           "Puts an array [rows, k] of float64 into k columns from `column` on.")
      .def("set_categories", &SetCategories, py::arg("column"), py::arg("texts"), py::arg("codes"),
           "Makes a column of strings: codes are places in `texts`, -1 for a missing cell.")
      .def(
          "set_objects",
          [](Table* table, Index column, const py::sequence& cells, const CellFormat* format,
             bool find) { ObjectColumn(column, table).Read(cells, format, find); },
          py::arg("column"), py::arg("cells"), py::arg("format") = nullptr, py::arg("find") = false,
          "Makes a column of Python objects. Strings are read in the format, or in one that is "
          "found out; without either they are names.")
      .def(
          "set_dates",
          [](Table* table, Index column, const std::vector<double>& days) {
            PutDates(days, column, table);
          },
          py::arg("column"), py::arg("days"),
          "Makes a column of dates: days since 1970-01-01, NaN for a missing cell.")
      .def(
          "append_bits",
          [](Table* table, const std::string& name, const std::vector<std::string>& cells,
             Index needed) {
            AppendBits({name, needed}, cells, table);
          },
          py::arg("name"), py::arg("cells"), py::arg("needed") = 0,
          "Appends a column of hexadecimal digits as bits; an empty cell is missing.")
      .def(
          "format",
          [](const Table& table, Index column) -> std::optional<CellFormat> {
            const CellFormat format = table.FormatOf(column);
            if (format.kind == CellFormat::Kind::kPlain) return {};
            return format;
          },
          py::arg("column"), "How the cells of the column were written; None for plain numbers.")
      .def(
          "make_texts",
          [](Table* table, Index column) {
            if (table->LevelsOf(column).empty()) NumbersToTexts(column, table);
          },
          py::arg("column"), "Makes strings of the numbers of a column.");
  module->def("shortest_text", &ShortestText, py::arg("number"),
              "A number in the fewest digits that read back as the same bits.");
}

}  // namespace fathom::python
