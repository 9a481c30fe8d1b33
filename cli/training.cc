#include "cli/training.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/metrics_log.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "fathom/base/error.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/report.h"
#include "fathom/io/json_text.h"

namespace fathom::cli {

namespace {

// A log that took the place of the table or of the model would be a bad surprise.
void CheckLog(const std::string& log, const std::vector<std::string>& others) {
  std::error_code ignored;
  for (const std::string& other : others) {
    if (log == other || std::filesystem::equivalent(log, other, ignored))
      ThrowError("--log: ", log, " is used for something else; name another file");
  }
}

// The model is usable, but its user should know that it is less than it could be.
void TellWhatWentWrong(const TrainingSummary& summary) {
  if (summary.reason == StopReason::kTimeBudget && summary.steps <= 1)
    Complain("note: --time-budget was too short for more than " + std::to_string(summary.steps) +
             " steps: the model has learnt next to nothing; give it more time");
  if (summary.reason == StopReason::kNumericalFailure)
    Complain("note: the training " + summary.message + "; the model is that of the last good step");
}

std::string HowToGoOn(const TrainingOptions& options, const Model& model) {
  if (std::filesystem::exists(CheckpointPath(options.output)))
    return "'fathom resume " + options.output + "' goes on from here";
  const auto& members = model.members();
  return members.size() == 1 && FindNetwork(members.front()) != nullptr
             ? "'fathom resume " + options.output + " --steps N' trains it further"
             : "there is no checkpoint to go on from";
}

}  // namespace

void AddCheckpointEvery(CLI::App* app, std::string* time) {
  app->add_option("--checkpoint-every", *time,
                  "Time between the checkpoints in MODEL.checkpoint; never: only when interrupted")
      ->type_name("TIME")
      ->capture_default_str();
}

double CheckpointInterval(const std::string& time) {
  return time == "never" ? HUGE_VAL : ParseDuration("--checkpoint-every", time);
}

void AddTrainingOptions(CLI::App* app, TrainingOptions* options) {
  AddCheckpointEvery(app, &options->checkpoint_every);
  app->add_option("--log", options->log,
                  "Write one JSON line per pass over the table to this file; resume adds to it")
      ->type_name("FILE");
  app->add_flag("--json", options->json, "Print the summary as one JSON object");
}

std::string CheckpointPath(const std::string& model) { return model + ".checkpoint"; }

int Train(const TrainingOptions& options, const DatasetRows& rows, Index first_step,
          const std::function<Model(FitControl)>& train) {
  const Dataset& dataset = rows.head();
  TellNotes(dataset.notes());
  FitControl control;
  control.ranks = &AllRanks();
  control.checkpoint = CheckpointPath(options.output);
  control.checkpoint_interval = CheckpointInterval(options.checkpoint_every);
  Warning checkpoint_lost("; the training goes on without a checkpoint");
  Warning log_lost("; the training goes on without its log");
  control.on_checkpoint_failure = std::ref(checkpoint_lost);
  std::unique_ptr<MetricsLog> log;
  if (!options.log.empty()) {
    CheckLog(options.log, {dataset.source(), options.output, control.checkpoint});
    log = std::make_unique<MetricsLog>(options.log, dataset.schema().targets, first_step);
    control.on_epoch = [&](const EpochMetrics& metrics) {
      if (!log_lost.given() && !log->Write(metrics)) log_lost(log->problem());
    };
  }
  const Interrupts interrupts;
  const Model model = [&] {
    ProgressBar bar;
    control.callback = [&](const Progress& progress) {
      bar.Show(progress);
      return Interrupts::Caught() == 0;
    };
    try {
      return train(control);
    } catch (const NumericalError& error) {
      throw NumericalError(std::string(error.what()) + "; no model was written");
    }
  }();
  SaveModel(model, options.output);
  if (log && !log_lost.given() && !log->WriteEnd(model.summary())) log_lost(log->problem());
  TellWhatWentWrong(model.summary());
  const bool interrupted = model.summary().reason == StopReason::kInterrupted;
  if (interrupted) {
    Complain("interrupted after step " + std::to_string(model.summary().steps) +
             "; the model so far is usable and stands in " + options.output + "; " +
             HowToGoOn(options, model));
  } else {
    std::error_code ignored;
    std::filesystem::remove(control.checkpoint, ignored);
  }
  WriteOut(options.json ? JsonText(JsonReport(options.output, model, &dataset), 2) + "\n"
                        : HumanReport(options.output, model, &dataset));
  if (interrupted) return 128 + Interrupts::Caught();
  return log_lost.given() ? kBadInput : kGood;
}

}  // namespace fathom::cli
