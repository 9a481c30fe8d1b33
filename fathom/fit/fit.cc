#include "fathom/fit/fit.h"

#include <sstream>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/fingerprint.h"
#include "fathom/ensemble/ensemble.h"
#include "fathom/ensemble/kinds.h"
#include "fathom/train/training.h"

namespace fathom {

namespace {

void CheckDataset(const Dataset& dataset) {
  if (dataset.rows() == 0) ThrowError(dataset.source, ": no rows to train on");
  if (dataset.inputs.cols() == 0) ThrowError(dataset.source, ": no input columns");
  if (dataset.targets.cols() == 0) ThrowError(dataset.source, ": no target column");
  const bool weighted = dataset.weights.size() > 0;
  if (weighted && !(dataset.weights.size() == dataset.rows() && dataset.weights.allFinite() &&
                    dataset.weights.minCoeff() > 0))
    ThrowError(dataset.source, ": the weights must be one positive number for each row");
  if (!dataset.targets.allFinite()) ThrowError(dataset.source, ": a target is not a finite number");
}

// Throws Error, with the first difference that a user can see, unless the training began with
// `dataset`.
void RequireSameData(const Dataset& dataset, const Checkpoint& training) {
  if (Fingerprint(dataset) == training.data.fingerprint) return;
  const NetworkInTraining& network = training.network;
  const std::vector<std::string> inputs = training.schema.FeatureNames();
  const std::vector<std::string>& targets = training.schema.targets;
  std::ostringstream difference;
  // The networks of an ensemble see parts of the table.
  if (network.recipe.stack == Stacking::kNever && dataset.rows() != network.summary.rows) {
    difference << "it has " << dataset.rows() << " rows instead of " << network.summary.rows;
  } else if (dataset.input_names != inputs) {
    difference << "its inputs are " << QuotedList(dataset.input_names) << " instead of "
               << QuotedList(inputs);
  } else if (dataset.target_names != targets) {
    difference << "its targets are " << QuotedList(dataset.target_names) << " instead of "
               << QuotedList(targets);
  } else {
    difference << "its cells differ";
  }
  ThrowError(dataset.source, ": is not the table that the training began with: ", difference.str(),
             "; name that table, or fit a new model");
}

// A model of one network.
Model ModelOf(Member member, Schema schema, TrainingData data) {
  ModelParts parts{.schema = std::move(schema),
                   .members = {},
                   .recipe = member.recipe,
                   .summary = member.summary,
                   .data = std::move(data)};
  parts.members.push_back(std::move(member));
  return Model(std::move(parts));
}

Model RequireTrained(Model model) {
  if (model.summary().reason == StopReason::kNumericalFailure)
    throw NumericalError("training " + model.summary().message + "; try a lower learning rate");
  return model;
}

}  // namespace

Model Fit(const Dataset& dataset, const Recipe& recipe, const FitControl& control) {
  CheckRecipe(recipe);
  CheckDataset(dataset);
  const TrainingContext context{
      .schema = dataset.schema.inputs.empty()
                    ? NumericSchema(dataset.input_names, dataset.target_names)
                    : dataset.schema,
      .data = {Fingerprint(dataset), control.origin, control.settings}};
  if (MakesStack(dataset, recipe))
    return RequireTrained(FitEnsemble(dataset, recipe, control, context));
  Recipe single = recipe;
  single.stack = Stacking::kNever;
  Member member = TrainNetwork(dataset, single, control, context);
  return RequireTrained(ModelOf(std::move(member), context.schema, context.data));
}

Model Resume(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control) {
  NetworkInTraining& network = checkpoint.network;
  CheckRecipe(network.recipe);
  for (const Member& done : checkpoint.done) CheckRecipe(done.recipe);
  ResolveSteps(dataset.rows(), &network.recipe);
  CheckDataset(dataset);
  RequireSameData(dataset, checkpoint);
  if (network.recipe.stack != Stacking::kNever)
    return RequireTrained(ResumeEnsemble(dataset, std::move(checkpoint), control));
  const Schema schema = checkpoint.schema;
  const TrainingData data = checkpoint.data;
  Member member = ContinueTraining(dataset, std::move(checkpoint), control);
  return RequireTrained(ModelOf(std::move(member), schema, data));
}

Checkpoint StartAgain(const Model& model, Index steps) {
  if (model.members().size() > 1)
    ThrowError("a model of several members cannot be trained further; fit it anew, or fit one ",
               "network, with the recipe's stack 'never'");
  Checkpoint start{
      .schema = model.schema(), .data = model.data(), .network = FromMember(model.leader())};
  Recipe& recipe = start.network.recipe;
  const Index steps_before = start.network.summary.steps;
  Require(steps_before >= 0, "steps of the model", "at least 0", steps_before);
  recipe.stack = Stacking::kNever;
  recipe.optimizer.time_budget = 0;
  recipe.optimizer.steps = recipe.low_noise_steps = steps;
  start.state = MinimizeState(Pack(start.network.network, PackingOf(recipe)), steps_before);
  start.factors.updates = steps_before;
  return start;
}

}  // namespace fathom
