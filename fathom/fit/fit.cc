#include "fathom/fit/fit.h"

#include <sstream>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/fingerprint.h"
#include "fathom/data/target_nature.h"
#include "fathom/ensemble/ensemble.h"
#include "fathom/ensemble/kinds.h"
#include "fathom/fit/memory_need.h"
#include "fathom/fit/resume.h"
#include "fathom/train/training.h"

namespace fathom {

namespace {

// A dataset is consistent; to be trained on, it must be complete.
void CheckDataset(const DatasetRows& rows) {
  if (rows.rows() == 0) ThrowError(rows.source(), ": no rows to train on");
  if (rows.head().inputs().cols() == 0) ThrowError(rows.source(), ": no input columns");
  if (rows.whole() == nullptr) return;  // made from a table, for training
  const Matrix& targets = rows.whole()->targets();
  if (targets.cols() == 0) ThrowError(rows.source(), ": no target column");
  for (Index n = 0; n < targets.rows(); ++n) {
    if (targets.row(n).array().isNaN().all())
      ThrowError(rows.source(), ": row ", n + 1, ": the target is missing; leave the row out");
  }
}

// Throws Error, with the first difference that a user can see, unless the training began with
// `dataset`.
void RequireSameData(const DatasetRows& dataset, const Checkpoint& training) {
  if (Fingerprint(dataset) == training.data.fingerprint) return;
  const NetworkInTraining& network = training.network;
  const std::vector<std::string> inputs = training.schema.FeatureNames();
  const std::vector<std::string>& targets = training.schema.targets;
  std::ostringstream difference;
  // The networks of an ensemble see parts of the table.
  if (training.asked.stack == Stacking::kNever && dataset.rows() != network.summary.rows) {
    difference << "it has " << dataset.rows() << " rows instead of " << network.summary.rows;
  } else if (dataset.schema().FeatureNames() != inputs) {
    difference << "its inputs are " << QuotedList(dataset.schema().FeatureNames()) << " instead of "
               << QuotedList(inputs);
  } else if (dataset.schema().targets != targets) {
    difference << "its targets are " << QuotedList(dataset.schema().targets) << " instead of "
               << QuotedList(targets);
  } else {
    difference << "its cells differ";
  }
  ThrowError(dataset.source(),
             ": is not the table that the training began with: ", difference.str(),
             "; name that table, or fit a new model");
}

TrainingData DataOf(const DatasetRows& rows, const FitControl& control) {
  return {Fingerprint(rows), control.origin, control.settings, FindInputRange(rows)};
}

// A model of one network.
Model ModelOf(const DatasetRows& rows, Member member, Schema schema, TrainingData data) {
  ModelParts parts{.schema = std::move(schema),
                   .members = {},
                   .recipe = member.recipe,
                   .summary = member.summary,
                   .data = std::move(data),
                   .natures = DescribeTargets(rows)};
  parts.members.push_back(std::move(member));
  return Model(std::move(parts));
}

Model RequireTrained(Model model) {
  if (model.summary().reason == StopReason::kNumericalFailure)
    throw NumericalError("training " + model.summary().message);
  return model;
}

Model GoOn(const DatasetRows& rows, Checkpoint checkpoint, const FitControl& control) {
  NetworkInTraining& network = checkpoint.network;
  CheckRecipe(network.recipe);
  for (const Member& done : checkpoint.done) CheckRecipe(done.recipe);
  ResolveSteps(rows.rows(), &network.recipe);
  CheckDataset(rows);
  const bool ensemble = checkpoint.asked.stack != Stacking::kNever;
  if (rows.whole() == nullptr) {
    Recipe recipe = network.recipe;
    if (ensemble) recipe.stack = Stacking::kAlways;
    CheckRowsMayBeElsewhere(recipe);
  }
  if (ensemble)
    return RequireTrained(ResumeEnsemble(*rows.whole(), std::move(checkpoint), control));
  const Schema schema = checkpoint.schema;
  const TrainingData data = checkpoint.data;
  Member member = ContinueTraining(rows, std::move(checkpoint), control);
  return RequireTrained(ModelOf(rows, std::move(member), schema, data));
}

}  // namespace

Model Fit(const Dataset& dataset, const Recipe& recipe, const FitControl& control) {
  return Fit(RowsInMemory(dataset), recipe, control);
}

Model Fit(const DatasetRows& rows, const Recipe& recipe, const FitControl& control) {
  CheckRecipe(recipe);
  CheckDataset(rows);
  const Dataset* const dataset = rows.whole();
  if (dataset == nullptr) CheckRowsMayBeElsewhere(recipe);
  TrainingContext context{.schema = rows.schema(), .data = DataOf(rows, control), .asked = recipe};
  if (dataset != nullptr && MakesEnsemble(*dataset, recipe))
    return RequireTrained(FitEnsemble(*dataset, recipe, control, context));
  Recipe single = recipe;
  single.stack = Stacking::kNever;
  context.asked = single;
  context.screen = true;
  Member member = TrainNetwork(rows, single, control, context);
  return RequireTrained(ModelOf(rows, std::move(member), context.schema, context.data));
}

Model Resume(const Dataset& dataset, const std::string& checkpoint, const FitControl& control) {
  return Resume(dataset, LoadCheckpoint(checkpoint), control);
}

Model Resume(const DatasetRows& rows, const std::string& checkpoint, const FitControl& control) {
  return Resume(rows, LoadCheckpoint(checkpoint), control);
}

Model Resume(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control) {
  return Resume(RowsInMemory(dataset), std::move(checkpoint), control);
}

Model Resume(const DatasetRows& rows, Checkpoint checkpoint, const FitControl& control) {
  RequireSameData(rows, checkpoint);
  return GoOn(rows, std::move(checkpoint), control);
}

Model Update(const Model& model, const Dataset& dataset, Index steps, const FitControl& control) {
  const Schema& has = dataset.schema();
  const Schema& wants = model.schema();
  if (has.inputs != wants.inputs || has.targets != wants.targets || has.classes != wants.classes)
    ThrowError(dataset.source(), ": its columns are not those of the model, ",
               QuotedList(wants.FeatureNames()), " and ", QuotedList(wants.targets),
               "; make it with the schema of the model");
  Checkpoint start = StartAgain(model, steps);
  const RowsInMemory rows(dataset);
  start.data = DataOf(rows, control);
  start.data.range = Union(start.data.range, model.data().range);
  return GoOn(rows, std::move(start), control);
}

Checkpoint StartAgain(const Model& model, Index steps) {
  if (model.members().size() > 1 || model.calibration() != nullptr)
    ThrowError("an ensemble cannot be trained further; fit it anew, or fit one ",
               "network, with the recipe's stack 'never'");
  Checkpoint start = TrainFurther(model.leader(), steps);
  start.schema = model.schema();
  start.data = model.data();
  start.asked = start.network.recipe;
  return start;
}

}  // namespace fathom
