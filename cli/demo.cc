#include "cli/demo.h"

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "cli/common.h"
#include "cli/progress.h"
#include "fathom/base/error.h"
#include "fathom/data/atomic_file.h"
#include "fathom/data/csv.h"
#include "fathom/fit/fit.h"

namespace fathom::cli {

namespace {

constexpr const char* kExample =
    "Example:\n"
    "  fathom demo --output pictures\n\n"
    "Fits a GP and a deep GP to the value function of the mountain car (from 400 noisy "
    "evaluations) and to a step,\nwith default settings but for two hidden units for the car, "
    "which can be drawn. Prints how well each predicts\nfresh data, and draws mountain_car.svg "
    "and step.svg, which any browser shows. mountain_car_train.csv and\nmountain_car_test.csv "
    "hold the data for your own tries.";

int RunDemo(const std::string& folder, int threads) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) ThrowError(folder, ": cannot make the folder: ", problem.message());
  const std::filesystem::path place = folder;
  const std::string step = (place / "step.svg").string();
  const std::string car = (place / "mountain_car.svg").string();
  CheckOutput(step, {});
  CheckOutput(car, {});
  WriteOut(MountainCarDemo(car, threads) + "picture: " + car + "\n\n");
  WriteOut(StepDemo(step, threads) + "picture: " + step + "\n");
  return kGood;
}

}  // namespace

Contestant FitAndScore(const std::string& name, const std::vector<Index>& hidden,
                       const std::vector<std::string>& input_names, const SampledFunction& train,
                       const SampledFunction& test, int threads) {
  Dataset dataset;
  dataset.source = name;
  dataset.input_names = input_names;
  dataset.target_names = {"value"};
  dataset.inputs = Moments::Certain(train.X);
  dataset.targets = train.y;
  Recipe recipe;
  recipe.architecture.hidden = hidden;
  recipe.threads = threads;
  ProgressBar bar;
  const auto show = [&](const Progress& progress, const MinimizeState&) {
    bar.Show(progress);
    return true;
  };
  Model model = Fit(dataset, recipe, {.callback = show});
  Contestant contestant{name, std::make_unique<ModelPredictor>(std::move(model), threads), {}};
  contestant.scores = Evaluate(contestant.predictor->Predict(Moments::Certain(test.X)), test.y);
  return contestant;
}

void SaveSamples(const std::string& path, std::vector<std::string> input_names,
                 const SampledFunction& samples) {
  input_names.emplace_back("value");
  Matrix table(samples.X.rows(), samples.X.cols() + 1);
  table << samples.X, samples.y;
  std::ostringstream text;
  WriteCsv(text, input_names, table);
  const std::string content = text.str();
  const std::string_view whole = content;
  WriteFileAtomically(path, {&whole, 1});
}

std::string ScoreTable(const std::vector<Contestant>& contestants) {
  char line[200];
  std::snprintf(line, sizeof(line), "  %-10s %10s %20s %12s %10s\n", "", "RMSE",
                "mean log likelihood", "coverage 95%", "seconds");
  std::string text = line;
  for (const Contestant& contestant : contestants) {
    const Scores& scores = contestant.scores;
    std::snprintf(line, sizeof(line), "  %-10s %10.4g %20.4g %12.3f %10.1f\n",
                  contestant.name.c_str(), scores.rmse, scores.mean_log_likelihood,
                  scores.coverage_95, contestant.predictor->model().summary.seconds);
    text += line;
  }
  return text;
}

Command AddDemo(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("demo", "Fit examples that need no data, and draw the results");
  app->footer(kExample);
  struct Options {
    std::string output = "demo-output";
    int threads = 0;
  };
  const auto options = std::make_shared<Options>();
  app->add_option("-o,--output", options->output, "Folder for the pictures; made if need be")
      ->type_name("DIR")
      ->capture_default_str();
  AddThreads(app, &options->threads);
  return {app, [options] { return RunDemo(options->output, options->threads); }};
}

}  // namespace fathom::cli
