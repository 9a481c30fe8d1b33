#include "python/src/training.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/fit/fit.h"
#include "fathom/io/json_text.h"
#include "fathom/recipe/quality.h"
#include "fathom/recipe/recipe_json.h"
#include "python/src/model.h"

namespace fathom::python {

namespace py = pybind11;

namespace {

using Clock = std::chrono::steady_clock;
using Settings = std::map<std::string, std::vector<std::string>>;

// Stands between a training, which runs without the interpreter's lock, and Python, which may want
// to watch it or to end it.
class Watcher {
 public:
  explicit Watcher(py::object callback) : callback_(std::move(callback)) {}

  bool operator()(const Progress& progress) {
    // Often enough for a person who presses Ctrl-C, and seldom enough to cost nothing.
    const Clock::time_point now = Clock::now();
    const bool due = now - last_look_ >= std::chrono::milliseconds(50);
    if (callback_.is_none() && !due) return true;
    last_look_ = now;
    const py::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      return callback_.is_none() || !callback_(progress).is(py::bool_(false));
    } catch (py::error_already_set& error) {
      error_ = error.value();
      return false;
    }
  }

  void Record(const EpochMetrics& metrics) { history_.push_back(metrics); }
  const std::vector<EpochMetrics>& history() const { return history_; }
  // What Python threw while it was called; None if nothing.
  py::object error() const { return error_; }

 private:
  py::object callback_;
  py::object error_ = py::none();
  Clock::time_point last_look_ = Clock::now();
  std::vector<EpochMetrics> history_;
};

struct WatchOptions {
  py::object callback;
  std::string checkpoint;
  double checkpoint_interval;
  Settings settings;
  int threads;  // of the predictor
};

// (model, passes over the table, what Python threw meanwhile or None)
template <typename Train>
py::tuple Watch(const WatchOptions& options, const Train& train) {
  Watcher watcher(options.callback);
  FitControl control;
  control.callback = std::ref(watcher);
  control.on_epoch = [&](const EpochMetrics& metrics) { watcher.Record(metrics); };
  control.checkpoint = options.checkpoint;
  control.checkpoint_interval = options.checkpoint_interval;
  control.origin = "Python";
  control.settings = options.settings;
  std::shared_ptr<FittedModel> model;
  {
    const py::gil_scoped_release unlocked;
    Model trained = train(control);
    if (trained.summary().reason != StopReason::kInterrupted && !options.checkpoint.empty()) {
      std::error_code ignored;
      std::filesystem::remove(options.checkpoint, ignored);
    }
    model = std::make_shared<FittedModel>(std::move(trained), options.threads);
  }
  return py::make_tuple(model, watcher.history(), watcher.error());
}

Recipe MakeRecipe(const std::string& json, const std::string& quality,
                  const std::set<std::string>& given) {
  Recipe recipe;
  UpdateRecipe(ParseJson("the recipe", json), &recipe);
  Quality word = Quality::kDefault;
  if (!FromName(quality, &word))
    ThrowError("quality must be 'fast', 'default', 'best' or 'paper', not '", quality, "'");
  ApplyQuality(
      word, [&](const std::string& field) { return given.contains(field); }, &recipe);
  CheckRecipe(recipe);
  return recipe;
}

InputStd CellStd(const Table* cells) {
  InputStd std;
  if (cells != nullptr) std.cells = *cells;
  return std;
}

Dataset DatasetFor(const Table& table, const std::vector<std::string>& targets,
                   const std::string& weights, bool classify, const Table* input_std,
                   const FittedModel* like) {
  if (like != nullptr) {
    Schema schema = like->model().schema();
    schema.weights = weights;
    schema.weights_are_counts = true;
    return MakeDataset(table, schema, CellStd(input_std));
  }
  return MakeDataset(
      table,
      {.targets = targets,
       .weights = weights,
       .task = classify ? Task::kClassify : Task::kRegress,
       .weights_are_counts = true},  // as in scikit-learn, a weight of two is two rows
      CellStd(input_std));
}

std::vector<std::string> NoteTexts(const Dataset& dataset) {
  std::vector<std::string> texts;
  for (const Note& note : dataset.notes()) texts.push_back(note.text);
  return texts;
}

void BindProgress(py::module_* module) {
  py::class_<Progress>(*module, "Progress", "How far a training has come.")
      .def_readonly("step", &Progress::step, "Steps done.")
      .def_readonly("steps", &Progress::steps, "The last step that is planned.")
      .def_property_readonly(
          "energy_per_row", [](const Progress& progress) { return -progress.value; },
          "What the training maximises, smoothed over the last steps.")
      .def_readonly("learning_rate", &Progress::rate, "Of the last step.")
      .def_readonly("seconds", &Progress::seconds, "Since the start.")
      .def_readonly("fraction", &Progress::fraction, "Of the training that is done, from 0 to 1.");
  py::class_<EpochMetrics>(*module, "Epoch", "What is known after a pass over the table.")
      .def_readonly("stage", &EpochMetrics::stage)
      .def_readonly("epoch", &EpochMetrics::epoch)
      .def_readonly("step", &EpochMetrics::step)
      .def_readonly("energy_per_row", &EpochMetrics::energy_per_row)
      .def_readonly("learning_rate", &EpochMetrics::learning_rate)
      .def_readonly("seconds", &EpochMetrics::seconds);
}

}  // namespace

void BindTraining(py::module_* module) {
  BindProgress(module);
  py::class_<Recipe>(*module, "Recipe", "Everything that decides how a table becomes a model.")
      .def(py::init(&MakeRecipe), py::arg("json"), py::arg("quality"), py::arg("given"))
      .def_property_readonly("threads", [](const Recipe& recipe) { return recipe.threads; })
      .def("json", [](const Recipe& recipe) { return JsonText(RecipeToJson(recipe)); });
  py::class_<Dataset>(*module, "Dataset", "Rows of inputs and targets, checked.")
      .def(py::init(&DatasetFor), py::arg("table"), py::arg("targets"), py::arg("weights"),
           py::arg("classify"), py::arg("input_std"), py::arg("like"))
      .def_property_readonly("rows", &Dataset::rows)
      .def_property_readonly("classes",
                             [](const Dataset& dataset) { return dataset.schema().classes; })
      .def_property_readonly("notes", &NoteTexts);
  py::class_<WatchOptions>(*module, "WatchOptions", "What accompanies a training.")
      .def(py::init([](py::object callback, std::string checkpoint, double interval,
                       Settings settings, int threads) {
             return WatchOptions{std::move(callback), std::move(checkpoint), interval,
                                 std::move(settings), threads};
           }),
           py::arg("callback"), py::arg("checkpoint"), py::arg("checkpoint_interval"),
           py::arg("settings"), py::arg("threads"));
  module->def(
      "fit",
      [](const Dataset& dataset, const Recipe& recipe, const WatchOptions& options) {
        return Watch(options,
                     [&](const FitControl& control) { return Fit(dataset, recipe, control); });
      },
      py::arg("dataset"), py::arg("recipe"), py::arg("options"), "Trains a model.");
  module->def(
      "update",
      [](const FittedModel& model, const Dataset& dataset, Index steps,
         const WatchOptions& options) {
        return Watch(options, [&](const FitControl& control) {
          return Update(model.model(), dataset, steps, control);
        });
      },
      py::arg("model"), py::arg("dataset"), py::arg("steps"), py::arg("options"),
      "Trains a model further.");
  module->def(
      "resume",
      [](const Dataset& dataset, const WatchOptions& options) {
        return Watch(options, [&](const FitControl& control) {
          return Resume(dataset, control.checkpoint, control);
        });
      },
      py::arg("dataset"), py::arg("options"), "Goes on with a training that was stopped.");
  module->def(
      "recipe_fields", [] { return JsonText(DescribeRecipe()); },
      "The fields of a recipe as JSON: name, kind, default, range and help of each.");
}

}  // namespace fathom::python
