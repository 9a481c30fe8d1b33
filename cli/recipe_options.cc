#include "cli/recipe_options.h"

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "fathom/recipe/json_value.h"

namespace fathom::cli {

void AddRecipeOptions(CLI::App* app, RecipeOptions* options) {
  Recipe& recipe = options->recipe;
  Architecture& architecture = recipe.architecture;
  MinimizeOptions& optimizer = recipe.optimizer;
  options->hidden = JoinCounts(architecture.hidden);
  options->inducing = JoinCounts(architecture.inducing);
  options->start = ToJson(recipe.start.start).get<std::string>();
  options->propagation = ToJson(architecture.propagation).get<std::string>();
  options->covariance = architecture.full_covariance ? "full" : "diag";
  options->inference = ToJson(recipe.inference).get<std::string>();
  options->stack = ToJson(recipe.stack).get<std::string>();
  options->whitening = ToJson(recipe.whitening).get<std::string>();
  options->precision = ToJson(recipe.precision).get<std::string>();
  options->form = architecture.site_form ? "sites" : "whitened";
  const auto add = [app](const char* name, auto* value, const char* type, const char* text) {
    return app->add_option(name, *value, text)->type_name(type)->capture_default_str();
  };
  add("--quality", &options->quality, "fast|default|best",
      "Time against accuracy, as defaults of the other options: fast has fewer pseudo-points and "
      "hidden units, best has --stack always")
      ->check(OneOf({"fast", "default", "best"}));
  add("--stack", &options->stack, "auto|never|always",
      "Whether networks of several kinds are fitted and their predictions mixed, by how well they "
      "predict a tenth of the rows: moments, one layer more, none hidden, points, and with always "
      "samples; auto: for numbers in tables of 500 rows and more, unless --hidden, --inducing or "
      "--steps is given")
      ->check(OneOf({"auto", "never", "always"}));
  add("--hidden", &options->hidden, "N[,N]",
      "Widths of the hidden layers, '2,2' for two of them; 0: none, a plain GP");
  add("--inducing", &options->inducing, "M[,M]",
      "Pseudo-points per function; a list gives one number per layer");
  add("--kernel", &architecture.kernel, "KIND",
      "se_ard, linear_ard, matern32, matern52, spectral_mixture or, with three components, "
      "spectral_mixture:3; or a sum, as se_ard+linear_ard");
  add("--likelihood", &architecture.likelihood, "KIND",
      "gaussian, student_t or heteroscedastic for numbers; poisson for counts; probit, softmax or "
      "robust_max for classes; auto: by the target");
  add("--inference", &options->inference, "aep|sep|ep",
      "How the posterior is found: aep maximises the tied factor's energy; sep and ep match "
      "moments, ep with a factor for each row")
      ->check(OneOf({"aep", "sep", "ep"}));
  add("--alpha", &recipe.alpha, "A", "Power of EP: 1 is EP, 0 the variational limit");
  add("--propagation", &options->propagation, "moments|samples|points",
      "What passes between layers: a Gaussian, sampled paths, or paths through learnt points; the "
      "last two give mixtures as predictions")
      ->check(OneOf({"moments", "samples", "points"}));
  add("--paths", &architecture.paths, "S", "Paths per row with --propagation samples or points");
  app->add_flag("--mixture,!--no-mixture", recipe.mixture,
                "Paths are mixed with power 1, and --alpha acts inside each; without it, alpha in "
                "both places");
  add("--covariance", &options->covariance, "diag|full",
      "Whether the hidden units of a row are propagated as independent or as one joint Gaussian")
      ->check(OneOf({"diag", "full"}));
  AddSeed(app, &recipe.seed, "Seed of the starting point and of the batches");
  AddThreads(app, &recipe.threads);
  add("--steps", &optimizer.steps, "N",
      "Most steps of the optimiser; 0: by the size of the table, and four times as many where the "
      "noise proves small, or with --time-budget");
  add("--effort", &recipe.effort, "F",
      "Multiplies the number of steps that the size of the table calls for");
  add("--time-budget", &options->time_budget, "TIME", "Make the best of this time: 90s, 5m or 1h");
  add("--batch", &optimizer.batch_size, "ROWS", "Rows per step");
  add("--learning-rate", &optimizer.learning_rate, "R", "Step size of Adam, at its largest");
  add("--warm-up", &optimizer.warm_up, "N", "Steps in which the learning rate grows to it");
  add("--patience", &optimizer.patience, "N",
      "End when the energy has not improved for so many steps; 0: never");
  add("--lengthscale-prior", &recipe.lengthscale_prior, "SD",
      "How far lengthscales may go from the root of the number of inputs: standard deviation of "
      "their logarithm; 0: no prior");
  add("--noise-floor", &recipe.noise_floor, "V",
      "Least noise variance, of targets scaled to variance 1");
  app->add_flag("--linear-mean,!--no-linear-mean", architecture.linear_mean,
                "Hidden layers start from a linear function of their inputs");
  app->add_flag("--skip-links,!--no-skip-links", architecture.skip_links,
                "Upper layers see the inputs too");
  app->add_flag("--shared,!--no-shared", architecture.shared,
                "The functions of a layer share kernel and pseudo-inputs");
  add("--whiten", &options->whitening, "auto|never|always",
      "Whether nearly collinear inputs are turned into uncorrelated ones; auto: where a linear fit "
      "owes more than half of what it explains to their small differences")
      ->check(OneOf({"auto", "never", "always"}));
  add("--precision", &options->precision, "double|mixed",
      "Of the exponentials of upper layers: mixed is faster and for networks of two hidden units "
      "and more")
      ->check(OneOf({"double", "mixed"}));
  add("--start", &options->start, "principal|paper", "Starting point of the training")
      ->check(OneOf({"principal", "paper"}));
  add("--form", &options->form, "whitened|sites",
      "How the posterior is written while it is optimised; 'sites' implies --start paper")
      ->check(OneOf({"whitened", "sites"}));
}

namespace {

// What --quality stands for. Options that are given win.
void ApplyQuality(const CLI::App& app, RecipeOptions* options) {
  const auto preset = [&](const char* option, auto* value, auto preset_value) {
    if (app.count(option) == 0) *value = std::move(preset_value);
  };
  if (options->quality == "fast") {
    preset("--hidden", &options->hidden, std::string("3"));
    preset("--inducing", &options->inducing, std::string("50,30"));
  } else if (options->quality == "best") {
    preset("--stack", &options->stack, std::string("always"));
  }
  // Who asks for a certain network gets that one.
  if (app.count("--hidden") + app.count("--inducing") + app.count("--steps") > 0 ||
      options->quality == "fast") {
    if (options->quality != "best") preset("--stack", &options->stack, std::string("never"));
  }
}

}  // namespace

Recipe FinishRecipe(const CLI::App& app, RecipeOptions* options) {
  Recipe& recipe = options->recipe;
  ApplyQuality(app, options);
  recipe.architecture.hidden = ParseCounts("--hidden", options->hidden);
  if (recipe.architecture.hidden == std::vector<Index>{0}) recipe.architecture.hidden.clear();
  recipe.architecture.inducing = ParseCounts("--inducing", options->inducing);
  if (!options->time_budget.empty())
    recipe.optimizer.time_budget = ParseDuration("--time-budget", options->time_budget);
  recipe.architecture.full_covariance = options->covariance == "full";
  recipe.architecture.site_form = options->form == "sites";
  if (recipe.architecture.site_form && app.count("--start") == 0) options->start = "paper";
  FromJson(options->start, "--start", &recipe.start.start);
  FromJson(options->stack, "--stack", &recipe.stack);
  FromJson(options->whitening, "--whiten", &recipe.whitening);
  FromJson(options->precision, "--precision", &recipe.precision);
  FromJson(options->propagation, "--propagation", &recipe.architecture.propagation);
  FromJson(options->inference, "--inference", &recipe.inference);
  CheckRecipe(recipe);
  return recipe;
}

std::string TaskFor(const std::string& task, const Recipe& recipe) {
  const std::string& likelihood = recipe.architecture.likelihood;
  if (task != "auto" || likelihood == "auto") return task;
  return MakeLikelihood(likelihood)->NumClasses(2) > 0 ? "classify" : "regress";
}

}  // namespace fathom::cli
