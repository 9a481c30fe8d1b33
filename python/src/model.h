// A fitted model and its predictions, as Python has them.
#ifndef FATHOM_PYTHON_SRC_MODEL_H_
#define FATHOM_PYTHON_SRC_MODEL_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fathom/fitted/model.h"
#include "fathom/fitted/predictor.h"
#include "python/src/tables.h"

namespace fathom::python {

// A model that is made ready to predict when it is first asked to. Any number of threads may call
// it at once.
class FittedModel {
 public:
  FittedModel(Model model, int threads);

  const Model& model() const { return model_; }
  // The input columns of the table that it was trained on, those that were left out included, as
  // far as they are known.
  const ArrayColumns& columns() const { return columns_; }
  int threads() const { return threads_; }
  const ModelPredictor& predictor() const;
  const std::shared_ptr<const ThreadPool>& pool() const;

 private:
  void Prepare() const;

  Model model_;
  int threads_;
  ArrayColumns columns_;
  mutable std::once_flag prepared_;
  mutable std::unique_ptr<const ModelPredictor> predictor_;
  mutable std::shared_ptr<const ThreadPool> pool_;
};

void BindModel(pybind11::module_* module);
void BindDistribution(pybind11::module_* module);

}  // namespace fathom::python

#endif  // FATHOM_PYTHON_SRC_MODEL_H_
