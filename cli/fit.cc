#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/training.h"
#include "fathom/base/stopwatch.h"
#include "fathom/fit/json_value.h"

namespace fathom::cli {

namespace {

constexpr const char* kExample =
    "Examples:\n"
    "  fathom fit train.csv --target price -o price.fathom\n"
    "  fathom fit train.csv --target price -o gp.fathom --hidden 0           a plain sparse GP\n"
    "  fathom fit train.csv --target x,y -o xy.fathom --hidden 5,5           three layers, two "
    "targets\n"
    "  fathom fit train.csv --target 3 --ignore id -o m.fathom --time-budget 60s\n\n"
    "TRAIN.csv has a header line; every column that is neither a target nor ignored is an input. "
    "Cells that are\nempty or NA are missing: as an input that is fine, a row without its target "
    "is left out.\n\nCtrl-C (or SIGTERM) finishes the step, writes the model as far as it is and "
    "exits "
    "with 130 (143); a second one\nends at once. 'fathom resume MODEL' goes on, also after a "
    "crash: MODEL.checkpoint is written every 30 s and\nremoved when the model is finished.";

struct FitOptions {
  DataOptions data;
  TrainingOptions training;
  std::string hidden, inducing, time_budget;
  std::string start = "principal", form = "whitened", inference = "aep";
  std::string covariance = "diag";
  Recipe recipe;
};

// Options that are fields of the recipe: their defaults are the recipe's.
void AddRecipeOptions(CLI::App* app, FitOptions* options) {
  Recipe& recipe = options->recipe;
  Architecture& architecture = recipe.architecture;
  MinimizeOptions& optimizer = recipe.optimizer;
  options->hidden = JoinCounts(architecture.hidden);
  options->inducing = JoinCounts(architecture.inducing);
  options->start = ToJson(recipe.start.start).get<std::string>();
  options->inference = ToJson(recipe.inference).get<std::string>();
  options->covariance = architecture.full_covariance ? "full" : "diag";
  options->form = architecture.site_form ? "sites" : "whitened";
  const auto add = [app](const char* name, auto* value, const char* type, const char* text) {
    return app->add_option(name, *value, text)->type_name(type)->capture_default_str();
  };
  add("--hidden", &options->hidden, "N[,N]",
      "Widths of the hidden layers, '2,2' for two of them; 0: none, a plain GP");
  add("--inducing", &options->inducing, "M[,M]",
      "Pseudo-points per function; a list gives one number per layer");
  add("--kernel", &architecture.kernel, "KIND",
      "se_ard, linear_ard, spectral_mixture or, with three components, spectral_mixture:3");
  add("--inference", &options->inference, "aep|sep|ep",
      "How the posterior is found: aep maximises the tied factor's energy; sep and ep match "
      "moments, ep with a factor for each row")
      ->check(OneOf({"aep", "sep", "ep"}));
  add("--alpha", &recipe.alpha, "A", "Power of EP: 1 is EP, 0 the variational limit");
  AddSeed(app, &recipe.seed, "Seed of the starting point and of the batches");
  AddThreads(app, &recipe.threads);
  add("--steps", &optimizer.steps, "N",
      "Most steps of the optimiser; 0: by the size of the table, or what fits --time-budget");
  add("--time-budget", &options->time_budget, "TIME", "Make the best of this time: 90s, 5m or 1h");
  add("--batch", &optimizer.batch_size, "ROWS", "Rows per step");
  add("--learning-rate", &optimizer.learning_rate, "R", "Step size of Adam, at its largest");
  add("--warm-up", &optimizer.warm_up, "N", "Steps in which the learning rate grows to it");
  add("--patience", &optimizer.patience, "N",
      "End when the energy has not improved for so many steps; 0: never");
  add("--noise-floor", &recipe.noise_floor, "V",
      "Least noise variance, of targets scaled to variance 1");
  app->add_flag("--linear-mean,!--no-linear-mean", architecture.linear_mean,
                "Hidden layers start from a linear function of their inputs");
  app->add_flag("--skip-links,!--no-skip-links", architecture.skip_links,
                "Upper layers see the inputs too");
  app->add_flag("--shared,!--no-shared", architecture.shared,
                "The functions of a layer share kernel and pseudo-inputs");
  add("--start", &options->start, "principal|paper", "Starting point of the training")
      ->check(OneOf({"principal", "paper"}));
  add("--covariance", &options->covariance, "diag|full",
      "Whether the hidden units of a row are propagated as independent or as one joint Gaussian")
      ->check(OneOf({"diag", "full"}));
  add("--form", &options->form, "whitened|sites",
      "How the posterior is written while it is optimised; 'sites' implies --start paper")
      ->check(OneOf({"whitened", "sites"}));
}

// The values that CLI11 could not put into the recipe by itself.
void FinishRecipe(const CLI::App& app, FitOptions* options) {
  Recipe& recipe = options->recipe;
  recipe.architecture.hidden = ParseCounts("--hidden", options->hidden);
  if (recipe.architecture.hidden == std::vector<Index>{0}) recipe.architecture.hidden.clear();
  recipe.architecture.inducing = ParseCounts("--inducing", options->inducing);
  if (!options->time_budget.empty())
    recipe.optimizer.time_budget = ParseDuration("--time-budget", options->time_budget);
  recipe.architecture.full_covariance = options->covariance == "full";
  recipe.architecture.site_form = options->form == "sites";
  if (recipe.architecture.site_form && app.count("--start") == 0) options->start = "paper";
  FromJson(options->start, "--start", &recipe.start.start);
  FromJson(options->inference, "--inference", &recipe.inference);
  CheckRecipe(recipe);
}

int RunFit(const CLI::App& app, FitOptions* options) {
  const Stopwatch watch;
  FinishRecipe(app, options);
  CheckOutput(options->training.output, {options->data.table});
  const Dataset dataset = ReadData(options->data, options->recipe.threads);
  return Train(options->training, dataset, 0, [&](FitControl control) {
    control.seconds_before = watch.Seconds();
    control.origin = DescribeData(app, options->data.table);
    // Left by an earlier training, whose place this one takes.
    std::filesystem::remove(control.checkpoint);
    return Fit(dataset, options->recipe, control);
  });
}

}  // namespace

Command AddFit(CLI::App* program) {
  CLI::App* app = program->add_subcommand("fit", "Train a model on a table");
  app->footer(kExample);
  const auto options = std::make_shared<FitOptions>();
  app->add_option("TRAIN.csv", options->data.table, "Table to learn from; - is standard input")
      ->required()
      ->type_name("");
  app->add_option("-o,--output", options->training.output, "File to write the model to")
      ->required()
      ->type_name("MODEL");
  AddDataOptions(app, &options->data);
  AddTrainingOptions(app, &options->training);
  AddRecipeOptions(app, options.get());
  return {app, [app, options] { return RunFit(*app, options.get()); }};
}

}  // namespace fathom::cli
