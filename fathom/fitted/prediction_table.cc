#include "fathom/fitted/prediction_table.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "fathom/base/error.h"

namespace fathom {

namespace {

constexpr double kNoDensity = std::numeric_limits<double>::quiet_NaN();

// What the predicted quantities are called: the targets or, if each class has a function and these
// are predicted, the classes.
const std::vector<std::string>& PredictedNames(const Prediction& prediction, const Schema& schema) {
  const bool by_class = std::cmp_equal(schema.classes.size(), prediction.outputs());
  return by_class ? schema.classes : schema.targets;
}

std::vector<std::string> NumberColumns(const std::vector<std::string>& predicted,
                                       const PredictionColumns& columns) {
  std::vector<std::string> names;
  for (const std::string& name : predicted) {
    const std::string prefix = predicted.size() == 1 ? "" : name + "_";
    names.push_back(prefix + "mean");
    names.push_back(prefix + "std");
    for (const double p : columns.quantiles) names.push_back(prefix + QuantileName(p));
    if (columns.targets) names.push_back(prefix + "target");
  }
  if (columns.log_density) names.emplace_back("log_density");
  return names;
}

Table NumberTable(const Prediction& prediction, const Schema& schema, const Matrix& targets,
                  const PredictionColumns& columns) {
  Table table;
  table.columns = NumberColumns(PredictedNames(prediction, schema), columns);
  table.values.resize(prediction.rows(), static_cast<Index>(table.columns.size()));
  const Moments y = prediction.MixtureMoments();
  const std::vector<RowQuantile> quantiles = RowQuantiles(prediction, columns.quantiles);
  for (Index n = 0; n < prediction.rows(); ++n) {
    Index column = 0;
    const auto put = [&](double value) { table.values(n, column++) = value; };
    for (Index d = 0; d < prediction.outputs(); ++d) {
      put(y.mean(n, d));
      put(std::sqrt(y.var(n, d)));
      for (const RowQuantile& quantile : quantiles) put(quantile(n, d));
      if (columns.targets) put(targets(n, d));
    }
    if (columns.log_density)
      put(targets.row(n).array().isNaN().all() ? kNoDensity
                                               : prediction.LogDensity(n, targets.row(n)));
  }
  return table;
}

Table ClassTable(const Matrix& probability, const std::vector<std::string>& classes,
                 const Matrix& targets, const PredictionColumns& columns) {
  Table table;
  table.columns.emplace_back("class");
  for (const std::string& name : classes) table.columns.push_back("p_" + name);
  if (columns.targets) table.columns.emplace_back("target");
  if (columns.log_density) table.columns.emplace_back("log_probability");
  table.levels.resize(table.columns.size());
  table.levels[0] = classes;
  if (columns.targets) table.levels[1 + classes.size()] = classes;
  table.values.resize(probability.rows(), static_cast<Index>(table.columns.size()));
  table.values.middleCols(1, probability.cols()) = probability;
  const std::vector<Index> predicted = PredictedClasses(probability);
  for (Index n = 0; n < probability.rows(); ++n) {
    table.values(n, 0) = static_cast<double>(predicted[static_cast<std::size_t>(n)]);
    Index column = 1 + probability.cols();
    if (columns.targets) table.values(n, column++) = targets(n, 0);
    if (!columns.log_density) continue;
    const double truth = targets(n, 0);
    table.values(n, column) =
        std::isnan(truth) ? truth : std::log(probability(n, static_cast<Index>(truth)));
  }
  return table;
}

void AddColumn(const std::string& name, const Vector& values, Table* table) {
  table->columns.push_back(name);
  if (!table->levels.empty()) table->levels.emplace_back();
  table->values.conservativeResize(Eigen::NoChange, table->values.cols() + 1);
  table->values.rightCols(1) = values;
}

}  // namespace

std::string QuantileName(double probability) {
  char buffer[400];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), probability, std::chars_format::fixed);
  std::string digits(buffer + 2, end.ptr);
  if (digits.size() < 2) digits += '0';
  return "q" + digits;
}

TargetPrediction PredictTargets(const ModelPredictor& predictor, const Moments& inputs,
                                const PredictOptions& options) {
  const bool classes = predictor.model().schema().has_classes() && !options.latent;
  TargetPrediction prediction;
  if (classes) {
    prediction = ClassPrediction{predictor.ClassProbabilities(inputs, options)};
  } else {
    prediction = predictor.Predict(inputs, options);
  }
  if (!IsFinite(prediction)) {
    throw NumericalError(
        "a prediction is not a finite number; compare the inputs with those that the model was "
        "trained on");
  }
  return prediction;
}

TargetPrediction PredictTargets(const ModelPredictor& predictor, const Dataset& rows,
                                const PredictOptions& options) {
  try {
    return PredictTargets(predictor, rows.inputs(), options);
  } catch (const NumericalError& error) {
    throw NumericalError(rows.source() + ": " + error.what());
  }
}

Table PredictionTable(const TargetPrediction& prediction, const Schema& schema,
                      const Matrix& targets, const PredictionColumns& columns) {
  PredictionColumns here = columns;
  if (targets.cols() == 0) here.log_density = here.targets = false;
  if (const auto* classes = std::get_if<ClassPrediction>(&prediction))
    return ClassTable(classes->probability, schema.classes, targets, here);
  return NumberTable(std::get<Prediction>(prediction), schema, targets, here);
}

Table PredictTable(const ModelPredictor& predictor, const Dataset& rows,
                   const PredictOptions& options, const PredictionColumns& columns) {
  Table table =
      PredictionTable(PredictTargets(predictor, rows, options), predictor.model().schema(),
                      options.latent ? Matrix() : rows.targets(), columns);
  table.source = rows.source();
  const InputRange& range = predictor.model().data().range;
  if (columns.outside && range.known())
    AddColumn(kOutside, CountOutside(range, predictor.model().schema(), rows.inputs()), &table);
  return table;
}

}  // namespace fathom
