#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/common.h"
#include "cli/progress.h"
#include "fathom/base/error.h"
#include "fathom/data/csv.h"
#include "fathom/data/text.h"
#include "fathom/fit/describe.h"
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
    "is left out. Ctrl-C ends the\ntraining early and keeps what has been reached.";

struct FitOptions {
  std::string train, output;
  std::vector<std::string> targets, ignore;
  std::string hidden, inducing, time_budget;
  std::string start = "principal", form = "whitened";
  bool json = false;
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
  add("--alpha", &recipe.alpha, "A", "Power of EP: 1 is EP, 0 the variational limit");
  AddSeed(app, &recipe.seed, "Seed of the starting point and of the batches");
  AddThreads(app, &recipe.threads);
  add("--steps", &optimizer.steps, "N", "Most steps of the optimiser; 0: by the size of the table");
  add("--time-budget", &options->time_budget, "TIME", "End after this time: 90s, 5m or 1h");
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
  recipe.architecture.site_form = options->form == "sites";
  if (recipe.architecture.site_form && app.count("--start") == 0) options->start = "paper";
  FromJson(options->start, "--start", &recipe.start.start);
  CheckRecipe(recipe);
}

std::string JsonSummary(const FitOptions& options, const Dataset& dataset, const Model& model) {
  const TrainingSummary& summary = model.summary;
  const Vector noise = NoiseStd(model);
  nlohmann::ordered_json noise_std = nlohmann::ordered_json::object();
  for (std::size_t t = 0; t < model.target_names.size(); ++t)
    noise_std[model.target_names[t]] = ToJson(noise[static_cast<Index>(t)]);
  const nlohmann::ordered_json json = {{"model", options.output},
                                       {"rows", summary.rows},
                                       {"dropped_rows", dataset.dropped_rows},
                                       {"inputs", model.input_names},
                                       {"targets", model.target_names},
                                       {"constant_columns", ConstantColumns(model)},
                                       {"hidden", model.recipe.architecture.hidden},
                                       {"architecture", DescribeNetwork(model.network)},
                                       {"steps", summary.steps},
                                       {"seconds", ToJson(summary.seconds)},
                                       {"reason", ToJson(summary.reason)},
                                       {"message", summary.message},
                                       {"energy_per_row", ToJson(summary.energy_per_row)},
                                       {"noise_std", noise_std},
                                       {"recoveries", summary.recoveries},
                                       {"largest_jitter", ToJson(summary.largest_jitter)}};
  return json.dump(2) + "\n";
}

std::string HumanSummary(const FitOptions& options, const Dataset& dataset, const Model& model) {
  const TrainingSummary& summary = model.summary;
  std::ostringstream text;
  text << "rows        " << summary.rows;
  if (dataset.dropped_rows > 0)
    text << " (" << dataset.dropped_rows << " without a target left out)";
  const std::vector<std::string> constant = ConstantColumns(model);
  if (!constant.empty())
    text << "\nconstant    " << QuotedList(constant) << ": the same in all rows";
  text << "\nnetwork     " << DescribeNetwork(model.network) << "\n";
  text << "training    " << summary.steps << " steps in " << std::fixed << std::setprecision(1)
       << summary.seconds << " s: " << summary.message;
  if (summary.recoveries > 0) text << " (" << summary.recoveries << " recoveries)";
  text << "\nenergy      " << Short(summary.energy_per_row) << " per row\n";
  const Vector noise = NoiseStd(model);
  for (std::size_t t = 0; t < model.target_names.size(); ++t) {
    text << "noise std   " << Short(noise[static_cast<Index>(t)]) << " of " << model.target_names[t]
         << "\n";
  }
  text << "model       " << options.output << "\n";
  return text.str();
}

int RunFit(const CLI::App& app, FitOptions* options) {
  FinishRecipe(app, options);
  const std::vector<std::string> targets = SplitLists(options->targets);
  CheckOutput(options->output, {options->train});
  const Table table = ReadCsv(
      options->train, {.threads = options->recipe.threads, .ignore = SplitLists(options->ignore)});
  const Dataset dataset = MakeDataset(table, targets);

  const Interrupts interrupts;
  Model model;
  {
    ProgressBar bar;
    model = Fit(dataset, options->recipe, [&](const Progress& progress, const MinimizeState&) {
      bar.Show(progress);
      return Interrupts::Caught() == 0;
    });
  }
  if (model.summary.reason == StopReason::kNumericalFailure) {
    throw NumericalError("training " + model.summary.message +
                         "; no model was written: try a lower --learning-rate");
  }
  SaveModel(model, options->output);
  const bool interrupted = model.summary.reason == StopReason::kInterrupted;
  if (interrupted) {
    Complain("interrupted after step " + std::to_string(model.summary.steps) +
             "; the model so far is usable and stands in " + options->output);
  }
  WriteOut(options->json ? JsonSummary(*options, dataset, model)
                         : HumanSummary(*options, dataset, model));
  return interrupted ? 128 + Interrupts::Caught() : kGood;
}

}  // namespace

Command AddFit(CLI::App* program) {
  CLI::App* app = program->add_subcommand("fit", "Train a model on a table");
  app->footer(kExample);
  const auto options = std::make_shared<FitOptions>();
  app->add_option("TRAIN.csv", options->train, "Table to learn from; - is standard input")
      ->required()
      ->type_name("");
  app->add_option("--target", options->targets,
                  "Column to predict, by name or number; repeat it or give a,b for several")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("NAME");
  app->add_option("-o,--output", options->output, "File to write the model to")
      ->required()
      ->type_name("MODEL");
  app->add_option("--ignore", options->ignore, "Column to leave out; repeat it or give a,b")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("NAME");
  app->add_flag("--json", options->json, "Print the summary as one JSON object");
  AddRecipeOptions(app, options.get());
  return {app, [app, options] { return RunFit(*app, options.get()); }};
}

}  // namespace fathom::cli
