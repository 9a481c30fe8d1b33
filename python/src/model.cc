#include "python/src/model.h"

#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/data/bits.h"
#include "fathom/evaluate/evaluation.h"
#include "fathom/fitted/export.h"
#include "fathom/fitted/prediction_arrays.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/fitted/relevance.h"
#include "fathom/fitted/report.h"
#include "fathom/io/json_text.h"
#include "fathom/recipe/recipe_json.h"
#include "python/src/distribution.h"
#include "python/src/tables.h"

namespace fathom::python {

namespace py = pybind11;

namespace {

// What the estimator noted in the model when it was trained: all columns, also those left out.
std::vector<std::string> NamesOfColumns(const Model& model) {
  const auto& settings = model.data().settings;
  if (const auto noted = settings.find("columns"); noted != settings.end()) return noted->second;
  std::vector<std::string> names;
  for (const InputColumn& input : model.schema().inputs) names.push_back(input.name);
  return names;
}

ArrayColumns ColumnsOf(const Model& model) {
  ArrayColumns columns{NamesOfColumns(model)};
  for (const InputColumn& input : model.schema().inputs) {
    const auto found = std::find(columns.names.begin(), columns.names.end(), input.name);
    const bool plain = input.levels.empty() && input.format.kind == CellFormat::Kind::kPlain;
    if (!plain || found == columns.names.end()) return {std::move(columns.names)};
    columns.plain.push_back(found - columns.names.begin());
  }
  return columns;
}

InputStd StdOfCells(const Table* cells) {
  InputStd std;
  if (cells != nullptr) std.cells = *cells;
  return std;
}

// What a prediction is asked for, with the rows that it is for.
struct Question {
  Rows rows;
  InputStd std;
  PredictOptions options;
};

Question Ask(const FittedModel& model, const py::object& rows, const Table* input_std,
             const PredictOptions& options) {
  return {Rows(rows, model.columns()), StdOfCells(input_std), options};
}

TargetPrediction PredictRows(const FittedModel& model, const Question& question, Index first,
                             Index count) {
  const Moments inputs = question.rows.Read(model.model().schema(), question.std, first, count);
  try {
    return PredictTargets(model.predictor(), inputs, question.options);
  } catch (const NumericalError& error) {
    throw NumericalError(std::string(kSource) + ": " + error.what());
  }
}

// Calls visit(first row, prediction) for pieces of the rows, so that memory does not grow with
// them. With many samples a piece has fewer rows, as in the program.
void ForEachPiece(const FittedModel& model, Question question,
                  const std::function<void(Index, TargetPrediction)>& visit) {
  constexpr Index kMostRows = 4096, kMostSamples = Index{1} << 22;
  const Index step = std::min(
      kMostRows, std::max<Index>(kMostSamples / std::max<Index>(question.options.samples, 1), 1));
  const Index rows = question.rows.size();
  for (Index first = 0; first < rows; first += step) {
    const Index count = std::min(step, rows - first);
    question.options.first_row = first;
    visit(first, PredictRows(model, question, first, count));
  }
}

// Mean, standard deviation if asked for, and quantiles, each [rows, targets (times quantiles)].
py::tuple PredictNumbers(const FittedModel& model, const py::object& rows, const Table* input_std,
                         const PredictOptions& options, bool with_std,
                         const std::vector<double>& probabilities) {
  Question question = Ask(model, rows, input_std, options);
  const Index count = question.rows.size();
  const auto targets = static_cast<Index>(model.model().schema().targets.size());
  Matrix mean(count, targets), std(with_std ? count : 0, targets);
  Matrix quantiles(count, targets * static_cast<Index>(probabilities.size()));
  {
    const py::gil_scoped_release unlocked;
    ForEachPiece(model, std::move(question), [&](Index first, const TargetPrediction& piece) {
      const auto& y = std::get<Prediction>(piece);
      const Moments moments = y.MixtureMoments();
      mean.middleRows(first, y.rows()) = moments.mean;
      if (with_std) std.middleRows(first, y.rows()) = moments.var.cwiseSqrt();
      if (!probabilities.empty())
        quantiles.middleRows(first, y.rows()) = Quantiles(y, probabilities, *model.pool());
    });
  }
  return py::make_tuple(std::move(mean), std::move(std), std::move(quantiles));
}

Matrix PredictClasses(const FittedModel& model, const py::object& rows, const Table* input_std,
                      const PredictOptions& options) {
  Question question = Ask(model, rows, input_std, options);
  Matrix probability(question.rows.size(), std::ssize(model.model().schema().classes));
  const py::gil_scoped_release unlocked;
  ForEachPiece(model, std::move(question), [&](Index first, const TargetPrediction& piece) {
    const Matrix& part = std::get<ClassPrediction>(piece).probability;
    probability.middleRows(first, part.rows()) = part;
  });
  return probability;
}

Distribution PredictDistribution(const FittedModel& model, const py::object& rows,
                                 const Table* input_std, const PredictOptions& options) {
  const Question question = Ask(model, rows, input_std, options);
  const py::gil_scoped_release unlocked;
  TargetPrediction prediction = PredictRows(model, question, 0, question.rows.size());
  return Distribution(std::get<Prediction>(std::move(prediction)), model.pool());
}

JointDistribution PredictTogether(const FittedModel& model, const py::object& rows,
                                  const Table* input_std, const PredictOptions& options) {
  const Question question = Ask(model, rows, input_std, options);
  const py::gil_scoped_release unlocked;
  const Moments inputs =
      question.rows.Read(model.model().schema(), question.std, 0, question.rows.size());
  return {model.predictor().PredictJoint(inputs, options), model.pool()};
}

// Scores by name; targets [rows, targets] are numbers, or the places of classes.
py::dict Score(const FittedModel& model, const py::object& rows, const Table* input_std,
               const Matrix& targets) {
  Question question = Ask(model, rows, input_std, {});
  EvaluationSums sums;
  {
    const py::gil_scoped_release unlocked;
    ForEachPiece(model, std::move(question), [&](Index first, const TargetPrediction& piece) {
      sums.Add(piece, targets.middleRows(first, RowsOf(piece)), *model.pool());
    });
  }
  py::dict scores;
  for (const auto& [kind, value] : NamedScores(sums.Means())) scores[kind->key] = value;
  return scores;
}

// Notes about the rows, such as values that the training has not seen. An array has none.
std::vector<std::string> NotesOn(const FittedModel& model, const Table& rows) {
  std::vector<std::string> texts;
  const InputRows reader(rows, model.model().schema());
  for (const Note& note : reader.notes()) texts.push_back(note.text);
  return texts;
}

// [rows]: in how many columns each lies beyond the rows of the training; empty if that is not
// known.
Vector OutsideOf(const FittedModel& model, const py::object& rows) {
  const InputRange& range = model.model().data().range;
  if (!range.known()) return {};
  const Question question = Ask(model, rows, nullptr, {});
  const Schema& schema = model.model().schema();
  return CountOutside(range, schema,
                      question.rows.Read(schema, question.std, 0, question.rows.size()));
}

py::dict DescribeSchema(const FittedModel& model) {
  const Schema& schema = model.model().schema();
  py::list inputs;
  for (const InputColumn& input : schema.inputs) {
    const bool plain = input.format.kind == CellFormat::Kind::kPlain;
    inputs.append(py::make_tuple(input.name, input.levels,
                                 plain ? py::object(py::none()) : py::cast(input.format)));
  }
  py::dict description;
  description["inputs"] = inputs;
  description["features"] = schema.FeatureNames();
  description["targets"] = schema.targets;
  description["classes"] = schema.classes;
  description["unnamed_columns"] = schema.unnamed_columns;
  description["columns"] = model.columns().names;
  return description;
}

py::dict RelevanceOf(const FittedModel& model) {
  Relevance relevance;
  {
    const py::gil_scoped_release unlocked;
    relevance = FindRelevance(model.model());
  }
  py::dict result;
  result["lengthscale"] = relevance.lengthscale;
  result["share"] = relevance.share;
  return result;
}

PredictOptions MakeOptions(bool latent, Index samples, std::uint64_t seed) {
  return {.latent = latent, .samples = samples, .seed = seed};
}

}  // namespace

FittedModel::FittedModel(Model model, int threads)
    : model_(std::move(model)), threads_(threads), columns_(ColumnsOf(model_)) {}

void FittedModel::Prepare() const {
  std::call_once(prepared_, [&] {
    predictor_ = std::make_unique<const ModelPredictor>(model_, threads_);
    pool_ = std::make_shared<const ThreadPool>(threads_);
  });
}

const ModelPredictor& FittedModel::predictor() const {
  Prepare();
  return *predictor_;
}

const std::shared_ptr<const ThreadPool>& FittedModel::pool() const {
  Prepare();
  return pool_;
}

namespace {

using ModelClass = py::class_<FittedModel, std::shared_ptr<FittedModel>>;

void BindFiles(ModelClass* model_class) {
  (*model_class)
      .def_static(
          "load",
          [](const std::string& path, int threads) {
            return std::make_shared<FittedModel>(LoadModel(path), threads);
          },
          py::arg("path"), py::arg("threads"))
      .def(py::pickle(
          [](const FittedModel& model) {
            return py::make_tuple(py::bytes(ModelToBytes(model.model())), model.threads());
          },
          [](const py::tuple& state) {
            const auto bytes = state[0].cast<py::bytes>();
            return std::make_shared<FittedModel>(
                ModelFromBytes("pickled model", static_cast<std::string_view>(bytes)),
                state[1].cast<int>());
          }))
      .def(
          "save",
          [](const FittedModel& model, const std::string& path) { SaveModel(model.model(), path); },
          py::arg("path"))
      .def("to_bytes",
           [](const FittedModel& model) { return py::bytes(ModelToBytes(model.model())); })
      .def(
          "with_threads",
          [](const FittedModel& model, int threads) {
            return std::make_shared<FittedModel>(model.model(), threads);
          },
          py::arg("threads"))
      .def_property_readonly("threads", &FittedModel::threads)
      .def_property_readonly(
          "settings", [](const FittedModel& model) { return model.model().data().settings; });
}

void BindDescriptions(ModelClass* model_class) {
  (*model_class)
      .def("schema", &DescribeSchema)
      .def(
          "bit_columns",
          [](const FittedModel& model, const std::vector<std::string>& names) {
            std::map<std::string, Index> needed;
            for (const BitColumn& column : BitColumnsAmong(names, model.model().schema()))
              needed[column.name] = column.needed;
            return needed;
          },
          py::arg("names"),
          "The columns of digits whose bits the model has learnt, and how many it needs.")
      .def("recipe",
           [](const FittedModel& model) { return JsonText(RecipeToJson(model.model().recipe())); })
      .def(
          "report",
          [](const FittedModel& model) { return JsonText(JsonReport("", model.model(), nullptr)); })
      .def("report_text",
           [](const FittedModel& model) { return HumanReport("", model.model(), nullptr); })
      .def("relevance", &RelevanceOf)
      .def("export_json", [](const FittedModel& model) { return ExportJson(model.model()); })
      .def(
          "export_c",
          [](const FittedModel& model, const std::string& name) {
            return ExportCHeader(model.model(), name);
          },
          py::arg("name"));
}

void BindPredictions(ModelClass* model_class) {
  (*model_class)
      .def("notes", &NotesOn, py::arg("rows"))
      .def("outside", &OutsideOf, py::arg("rows"))
      .def("predict", &PredictNumbers, py::arg("rows"), py::arg("input_std"), py::arg("options"),
           py::arg("with_std"), py::arg("probabilities"))
      .def("predict_classes", &PredictClasses, py::arg("rows"), py::arg("input_std"),
           py::arg("options"))
      .def("distribution", &PredictDistribution, py::arg("rows"), py::arg("input_std"),
           py::arg("options"))
      .def("joint_distribution", &PredictTogether, py::arg("rows"), py::arg("input_std"),
           py::arg("options"))
      .def("score", &Score, py::arg("rows"), py::arg("input_std"), py::arg("targets"));
}

}  // namespace

void BindModel(py::module_* module) {
  py::class_<PredictOptions>(*module, "PredictOptions", "What a prediction is asked for.")
      .def(py::init(&MakeOptions), py::arg("latent") = false, py::arg("samples") = 0,
           py::arg("seed") = 1);
  ModelClass model_class(*module, "Model", "A trained model.");
  BindFiles(&model_class);
  BindDescriptions(&model_class);
  BindPredictions(&model_class);
}

}  // namespace fathom::python
