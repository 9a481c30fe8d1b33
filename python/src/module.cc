// The module fathom._core: the C++ library as the Python package sees it. Everything a user meets
// is in the package around it.
#include <pybind11/pybind11.h>

#include <exception>
#include <string>
#include <utility>

#include "bnn/expert.h"
#include "fathom/base/error.h"
#include "fathom/data/role_error.h"
#include "fathom/recipe/recipe.h"
#include "fathom/version.h"
#include "python/src/cross_validation.h"
#include "python/src/model.h"
#include "python/src/tables.h"
#include "python/src/training.h"

namespace fathom::python {

namespace py = pybind11;

namespace {

// Without the group that it belongs to: parameters of an estimator have no dots.
std::string ParameterName(const std::string& field) {
  return field.substr(field.find_last_of('.') + 1);
}

// What the library calls a role of a column has another cure here.
std::string WithCure(const RoleError& error) {
  if (error.role() == "ignore") {
    const std::string column = error.value().empty() ? "..." : "'" + error.value() + "'";
    return error.text() + ", as with X.drop(columns=" + column + ")";
  }
  if (error.role() == "task") return error.text() + " with DeepGPClassifier";
  return error.what();
}

void TranslateErrors(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(std::move(thrown));
  } catch (const RecipeError& error) {
    const std::string text = ParameterName(error.field()) + " " + error.rule();
    PyErr_SetString(PyExc_ValueError, text.c_str());
  } catch (const RoleError& error) {
    PyErr_SetString(PyExc_ValueError, WithCure(error).c_str());
  } catch (const Error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "Fathom's C++ library";
  module.attr("__version__") = FATHOM_VERSION;
  const py::object numerical =
      py::register_exception<NumericalError>(module, "NumericalError", PyExc_ArithmeticError);
  numerical.attr("__doc__") = "The numbers gave out in spite of sound input.";
  py::register_exception_translator(&TranslateErrors);
  bnn::RegisterNetworkExpert();  // for the models of 'fathom baseline'
  BindTables(&module);
  BindModel(&module);
  BindDistribution(&module);
  BindTraining(&module);
  BindCrossValidation(&module);
}

}  // namespace fathom::python
