#include "python/src/cross_validation.h"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/fit/cross_validate.h"
#include "fathom/fit/linear_baseline.h"
#include "python/src/model.h"

namespace fathom::python {

namespace py = pybind11;

namespace {

py::dict ScoresOf(const Evaluation& evaluation) {
  py::dict scores;
  for (const auto& [kind, value] : NamedScores(evaluation)) scores[kind->key] = value;
  scores["rows"] = ScoredRows(evaluation);
  return scores;
}

// The scores of all folds, and of each target where there are several.
py::dict FoldScoresOf(const FoldScores& scores, const std::vector<std::string>& targets) {
  py::dict result;
  py::list folds;
  for (const Evaluation& fold : scores.folds) folds.append(ScoresOf(fold));
  result["mean"] = ScoresOf(scores.mean);
  result["standard_error"] = ScoresOf(scores.standard_error);
  result["standard_error"].attr("pop")("rows");
  result["folds"] = folds;
  if (scores.of_target.empty()) return result;
  py::dict of_targets;
  for (std::size_t t = 0; t < targets.size(); ++t)
    of_targets[targets[t].c_str()] = FoldScoresOf(scores.of_target[t], {});
  result["targets"] = of_targets;
  return result;
}

// Which rows are held out together. `parts` [rows of the table] is empty for folds by chance.
struct FoldPlan {
  std::string kind;  // "chance", "groups", "given" or "order"
  Index folds = 5;
  Vector parts = {};
};

std::vector<Split> SplitsOf(const FoldPlan& plan, const Dataset& dataset, std::uint64_t seed) {
  RandomStream stream(seed);
  if (plan.kind == "chance") return KFold(dataset.rows(), plan.folds, &stream);
  const Vector parts = plan.parts(dataset.table_rows());
  if (plan.kind == "groups") return GroupedFolds(parts, plan.folds, &stream);
  if (plan.kind == "given") return GivenFolds(parts);
  return OrderedFolds(parts, plan.folds);
}

// Lets Python see Ctrl-C meanwhile.
class Interruptible {
 public:
  bool operator()(const CrossValidationProgress& /*progress*/) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_look_ < std::chrono::milliseconds(50)) return true;
    last_look_ = now;
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() == 0) return true;
    error_ = py::error_already_set().value();
    return false;
  }
  const py::object& error() const { return error_; }

 private:
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
  py::object error_ = py::none();
};

// The numbers of the dataset's rows at their places in the table; NaN where a row was left out.
Matrix InTable(const Dataset& dataset, const Matrix& values, Index rows) {
  Matrix all = Matrix::Constant(rows, values.cols(), std::numeric_limits<double>::quiet_NaN());
  for (Index n = 0; n < values.rows(); ++n)
    all.row(dataset.table_rows()[static_cast<std::size_t>(n)]) = values.row(n);
  return all;
}

// (scores, predictions of held-out rows, fold of each row, what Python threw)
py::tuple Validate(const Dataset& dataset, const Recipe& recipe, const FoldPlan& plan, Index rows) {
  Interruptible watch;
  CrossValidation result;
  FoldScores linear;
  const bool numbers = dataset.schema().classes.empty();
  {
    const py::gil_scoped_release unlocked;
    const std::vector<Split> splits = SplitsOf(plan, dataset, recipe.seed);
    CrossValidationControl control;
    control.callback = std::ref(watch);
    result = CrossValidate(dataset, recipe, splits, control);
    if (numbers && !result.interrupted) linear = CrossValidateLinear(dataset, splits);
  }
  if (result.interrupted) return py::make_tuple(py::dict(), py::dict(), Vector(), watch.error());
  const std::vector<std::string>& targets = dataset.schema().targets;
  py::dict scores = FoldScoresOf(result.scores, targets);
  py::dict held_out;
  if (numbers) {
    scores["linear"] = FoldScoresOf(linear, targets);
    const Moments y = std::get<Prediction>(result.out_of_fold).MixtureMoments();
    held_out["mean"] = InTable(dataset, y.mean, rows);
    held_out["std"] = InTable(dataset, y.var.cwiseSqrt(), rows);
  } else {
    held_out["probability"] =
        InTable(dataset, std::get<ClassPrediction>(result.out_of_fold).probability, rows);
  }
  Matrix fold(dataset.rows(), 1);
  for (Index n = 0; n < dataset.rows(); ++n)
    fold(n, 0) = static_cast<double>(result.fold_of_row[static_cast<std::size_t>(n)]);
  return py::make_tuple(scores, held_out, Vector(InTable(dataset, fold, rows).col(0)),
                        watch.error());
}

}  // namespace

void BindCrossValidation(py::module_* module) {
  py::class_<FoldPlan>(*module, "FoldPlan", "Which rows are held out together.")
      .def(py::init([](std::string kind, Index folds, Vector parts) {
             return FoldPlan{std::move(kind), folds, std::move(parts)};
           }),
           py::arg("kind"), py::arg("folds"), py::arg("parts"));
  module->def("cross_validate", &Validate, py::arg("dataset"), py::arg("recipe"), py::arg("plan"),
              py::arg("rows"), "Fits to all folds but one in turn, and scores that one.");
}

}  // namespace fathom::python
