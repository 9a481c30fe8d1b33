// Training, called from Python.
#ifndef FATHOM_PYTHON_SRC_TRAINING_H_
#define FATHOM_PYTHON_SRC_TRAINING_H_

#include <pybind11/pybind11.h>

namespace fathom::python {

void BindTraining(pybind11::module_* module);

}  // namespace fathom::python

#endif  // FATHOM_PYTHON_SRC_TRAINING_H_
