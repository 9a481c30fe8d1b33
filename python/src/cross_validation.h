// Cross-validation, called from Python.
#ifndef FATHOM_PYTHON_SRC_CROSS_VALIDATION_H_
#define FATHOM_PYTHON_SRC_CROSS_VALIDATION_H_

#include <pybind11/pybind11.h>

namespace fathom::python {

void BindCrossValidation(pybind11::module_* module);

}  // namespace fathom::python

#endif  // FATHOM_PYTHON_SRC_CROSS_VALIDATION_H_
