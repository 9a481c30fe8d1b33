#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "bnn/expert.h"
#include "cli/baseline_run.h"
#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/large_tables.h"
#include "cli/training.h"
#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/fit/resume.h"

namespace fathom::cli {

namespace {

constexpr const char* kResumeExample =
    "Examples:\n"
    "  fathom resume price.fathom                    finish a training that was stopped\n"
    "  fathom resume price.fathom --data moved.csv   its table has another name now\n"
    "  fathom resume price.fathom --steps 500        train a finished model further\n\n"
    "A training that was interrupted or killed goes on from MODEL.checkpoint and ends with exactly "
    "the model that it\nwould have given without a break; the time before the break counts towards "
    "its --time-budget. A finished model\nis trained for --steps more, from its present "
    "parameters, with a warm-up and a decay of the learning rate of\ntheir own; a stack and a "
    "baseline are not. The table must be the one that the training began with.";

struct ResumeOptions {
  std::string model, table, time_budget;
  Index steps = 0;
  int threads = 0;
  MemoryOptions memory;
  TrainingOptions training;
};

// The training that was stopped, or a new one of a model that is finished.
Checkpoint FindTraining(const ResumeOptions& options) {
  const std::string& model = options.training.output;
  const std::string checkpoint = CheckpointPath(model);
  if (std::filesystem::exists(checkpoint) || options.model == checkpoint) {
    if (options.steps > 0) {
      ThrowError(checkpoint, ": its training is not finished; resume it without --steps first");
    }
    return LoadCheckpoint(checkpoint);
  }
  const Model trained = LoadModel(model);
  if (trained.leader().expert->Kind() == bnn::NetworkExpert::kKind)
    ThrowError(model, ": its training is finished, and a baseline is not trained further;",
               " 'fathom baseline' fits a new one");
  if (options.steps == 0 && options.time_budget.empty()) {
    ThrowError(model, ": its training is finished, there is no ", checkpoint,
               "; give --steps N to train it for N more");
  }
  return StartAgain(trained, options.steps);
}

// How the table of a training is read again.
DataOptions FindData(const ResumeOptions& options, const std::string& origin,
                     const std::string& task) {
  DataOptions data;
  try {
    data = DataFromDescription(origin);
  } catch (const Error& error) {
    ThrowError(options.model, ": cannot be resumed: ", error.what());
  }
  data.task = task;
  if (!options.table.empty()) {
    data.table = options.table;
  } else if (data.table == "-") {
    ThrowError(options.model, ": its table came from standard input; give it again: --data FILE");
  }
  return data;
}

int ResumeBaselineFrom(const std::string& path, const CLI::App& app, const ResumeOptions& options) {
  for (const char* option : {"--steps", "--time-budget", "--log", "--memory", "--packed"}) {
    if (app.count(option) > 0)
      ThrowError(option, ": a baseline has no such option; leave it out to resume ", path);
  }
  bnn::BaselineCheckpoint checkpoint = bnn::LoadBaselineCheckpoint(path);
  checkpoint.options.threads = options.threads;
  const DataOptions data = FindData(options, checkpoint.origin, "regress");
  const BaselineRun run{.output = options.training.output,
                        .checkpoint_every = options.training.checkpoint_every,
                        .json = options.training.json};
  CheckOutput(run.output, FilesReadBy(data, options.memory));
  const Dataset dataset = ReadData(data, options.threads);
  return FitBaselineWatched(run, dataset, [&](const bnn::BaselineControl& control) {
    return bnn::ResumeBaseline(dataset, std::move(checkpoint), control);
  });
}

int RunResume(const CLI::App& app, ResumeOptions* options) {
  const Stopwatch watch;
  std::string& output = options->training.output;
  output = options->model;
  const std::string suffix = CheckpointPath("");
  if (output.ends_with(suffix)) output.resize(output.size() - suffix.size());
  const std::string checkpoint = CheckpointPath(output);
  if (std::filesystem::exists(checkpoint) && bnn::IsBaselineCheckpoint(checkpoint))
    return ResumeBaselineFrom(checkpoint, app, *options);
  Checkpoint run = FindTraining(*options);
  Recipe& recipe = run.network.recipe;
  if (app.count("--threads") > 0) recipe.threads = options->threads;
  if (!options->time_budget.empty() && recipe.stack != Stacking::kNever) {
    ThrowError("--time-budget: a stack goes on with the budget it began with; leave it out");
  } else if (!options->time_budget.empty()) {
    recipe.optimizer.time_budget =
        run.state.seconds + ParseDuration("--time-budget", options->time_budget);
  }
  const DataOptions data =
      FindData(*options, run.data.origin, run.schema.has_classes() ? "classify" : "regress");
  CheckOutput(output, FilesReadBy(data, options->memory));
  Recipe whole = recipe;
  if (run.asked.stack != Stacking::kNever) whole.stack = Stacking::kAlways;
  const std::unique_ptr<DatasetRows> rows = ReadRows(data, options->memory, whole);
  Index first_step = run.state.step;
  for (const Member& done : run.done) first_step += done.summary.steps;
  return Train(options->training, *rows, first_step, [&](FitControl control) {
    control.seconds_before = watch.Seconds();
    control.memory = MemoryOf(options->memory) / 2;
    return Resume(*rows, std::move(run), control);
  });
}

}  // namespace

Command AddResume(CLI::App* program) {
  CLI::App* app = program->add_subcommand("resume", "Go on with a training that was stopped");
  app->footer(kResumeExample);
  const auto options = std::make_shared<ResumeOptions>();
  app->add_option("MODEL", options->model, "The model that was to be written, or its checkpoint")
      ->required()
      ->type_name("");
  app->add_option("--data", options->table,
                  "The table, if it is not where it was; - is standard input")
      ->type_name("TRAIN.csv");
  app->add_option("--steps", options->steps, "Train a finished model for so many more steps")
      ->check(InRange(1, kMostSteps))
      ->type_name("N");
  app->add_option("--time-budget", options->time_budget,
                  "End after this time from now on: 90s, 5m or 1h")
      ->type_name("TIME");
  AddThreads(app, &options->threads);
  AddMemoryOptions(app, &options->memory);
  AddTrainingOptions(app, &options->training);
  return {app, [app, options] { return RunResume(*app, options.get()); }};
}

}  // namespace fathom::cli
