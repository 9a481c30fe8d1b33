#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/common.h"
#include "cli/config.h"
#include "cli/data_options.h"
#include "cli/large_tables.h"
#include "cli/recipe_options.h"
#include "cli/training.h"
#include "fathom/base/stopwatch.h"

namespace fathom::cli {

namespace {

constexpr const char* kFitExample =
    "Examples:\n"
    "  fathom fit train.csv --target price -o price.fathom\n"
    "  fathom fit train.csv --target price -o gp.fathom --hidden 0           a plain sparse GP\n"
    "  fathom fit train.csv --target x,y -o xy.fathom --hidden 5,5           three layers, two "
    "targets\n"
    "  fathom fit train.csv --target species -o species.fathom               classes, if its cells "
    "are text\n"
    "  fathom fit train.csv --target 3 --ignore id -o m.fathom --time-budget 60s\n\n"
    "TRAIN.csv is text with separators or an NPY array, packed by gzip or not. Every column that "
    "is "
    "neither a target\nnor ignored is an input; text becomes categories. Cells that are empty or "
    "NA "
    "are missing: as an input that is\nfine, a row without its target is skipped.\n\nCtrl-C (or "
    "SIGTERM) finishes the step, writes the model as far as it is and "
    "exits "
    "with 130 (143); a second one\nends at once. 'fathom resume MODEL' goes on, also after a "
    "crash: MODEL.checkpoint is written every 30 s and\nremoved when the model is finished.";

struct FitOptions {
  DataOptions data;
  MemoryOptions memory;
  TrainingOptions training;
  RecipeOptions recipe;
};

void PutAside(const std::string& checkpoint) {
  std::error_code problem;
  if (!std::filesystem::exists(checkpoint, problem)) return;
  std::filesystem::rename(checkpoint, checkpoint + ".old", problem);
  if (!problem) {
    Complain("note: " + checkpoint + " of an interrupted training is now called " + checkpoint +
             ".old");
  }
}

int RunFit(const CLI::App& app, FitOptions* options) {
  const Stopwatch watch;
  const Recipe recipe = FinishRecipe(app, &options->recipe);
  options->data.task = TaskFor(options->data.task, recipe);
  CheckOutput(options->training.output, FilesReadBy(options->data, options->memory));
  const double memory = MemoryOf(options->memory);
  const std::unique_ptr<DatasetRows> rows = ReadRows(options->data, options->memory, recipe);
  return Train(options->training, *rows, 0, [&](FitControl control) {
    control.memory = memory / 2;
    control.seconds_before = watch.Seconds();
    control.origin = DescribeData(app, options->data.table);
    control.settings = Settings(app);
    // What --quality stands for, so that the settings say the same when its meaning changes.
    for (const auto& [option, word] : options->recipe.by_quality) control.settings[option] = {word};
    // The checkpoint of an interrupted training may be worth hours. It is only renamed, and only
    // when this training has begun.
    control.callback = [show = control.callback, old = control.checkpoint,
                        begun = false](const Progress& progress) mutable {
      if (!std::exchange(begun, true)) PutAside(old);
      return show(progress);
    };
    return Fit(*rows, recipe, control);
  });
}

}  // namespace

Command AddFit(CLI::App* program) {
  CLI::App* app = program->add_subcommand("fit", "Train a model on a table");
  app->footer(kFitExample);
  const auto options = std::make_shared<FitOptions>();
  app->add_option("TRAIN.csv", options->data.table, "Table to learn from; - is standard input")
      ->required()
      ->type_name("");
  app->add_option("-o,--output", options->training.output, "File to write the model to")
      ->required()
      ->type_name("MODEL");
  AddDataOptions(app, &options->data);
  AddMemoryOptions(app, &options->memory);
  AddTrainingOptions(app, &options->training);
  AddRecipeOptions(app, &options->recipe);
  return {app, [app, options] { return RunFit(*app, options.get()); }};
}

}  // namespace fathom::cli
