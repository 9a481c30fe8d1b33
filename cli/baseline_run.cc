#include "cli/baseline_run.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/progress.h"
#include "cli/training.h"
#include "fathom/base/stopwatch.h"
#include "fathom/fitted/report.h"
#include "fathom/io/json_text.h"

namespace fathom::cli {

namespace {

Model FitWithBar(const BaselineRun& run, const std::function<Model(bnn::BaselineControl)>& fit) {
  ProgressBar bar;
  const Stopwatch watch;
  Warning checkpoint_lost("; the fit goes on without a checkpoint");
  return fit({.callback =
                  [&](double fraction) {
                    bar.Show(BarText(fraction) + "  " + TimeText(watch.Seconds()));
                    return Interrupts::Caught() == 0;
                  },
              .checkpoint = CheckpointPath(run.output),
              .checkpoint_interval = CheckpointInterval(run.checkpoint_every),
              .on_checkpoint_failure = std::ref(checkpoint_lost)});
}

std::string HowToGoOn(const BaselineRun& run) {
  return std::filesystem::exists(CheckpointPath(run.output))
             ? "'fathom resume " + run.output + "' goes on from here"
             : "there is no checkpoint to go on from";
}

}  // namespace

int FitBaselineWatched(const BaselineRun& run, const Dataset& dataset,
                       const std::function<Model(bnn::BaselineControl)>& fit) {
  TellNotes(dataset.notes());
  const Interrupts interrupts;
  try {
    const Model model = FitWithBar(run, fit);
    SaveModel(model, run.output);
    const bool interrupted = model.summary().reason == StopReason::kInterrupted;
    if (interrupted) {
      Complain("interrupted; the model so far is usable and stands in " + run.output + "; " +
               HowToGoOn(run));
    } else {
      std::error_code ignored;
      std::filesystem::remove(CheckpointPath(run.output), ignored);
    }
    WriteOut(run.json ? JsonText(JsonReport(run.output, model, &dataset), 2) + "\n"
                      : HumanReport(run.output, model, &dataset));
    if (!interrupted) return kGood;
  } catch (const bnn::StoppedTooEarly& stopped) {
    Complain(std::string(stopped.what()) + "; no model was written; " + HowToGoOn(run));
  }
  return 128 + Interrupts::Caught();
}

}  // namespace fathom::cli
