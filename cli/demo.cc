#include "cli/demo.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/common.h"
#include "cli/progress.h"
#include "cli/score_lines.h"
#include "fathom/base/error.h"
#include "fathom/data/csv.h"
#include "fathom/fit/fit.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/json_text.h"
#include "fathom/io/json_value.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDemoExample =
    "Example:\n"
    "  fathom demo --output pictures\n\n"
    "Fits a GP and a deep GP to the value function of the mountain car (from 400 noisy "
    "evaluations) and to a step,\nwith default settings but for two hidden units, "
    "which can be drawn. Prints how well each predicts fresh\ndata, and draws mountain_car.svg "
    "and step.svg, which any browser shows. mountain_car_train.csv and\nmountain_car_test.csv "
    "hold the data for your own tries.";

struct DemoOptions {
  std::string folder = "demo-output";
  int threads = 0;
  bool json = false;
};

std::string HumanDemo(const Demo& demo) {
  char line[200];
  std::snprintf(line, sizeof(line), "  %-10s %10s %20s %12s %10s\n", "", "RMSE",
                "mean log likelihood", "coverage 95%", "seconds");
  std::string text = demo.title + ", " + std::to_string(demo.train_rows) +
                     " noisy points; scores on " + std::to_string(demo.test_rows) +
                     " fresh ones (the noise alone has RMSE " + Short(demo.noise_std) + "):\n" +
                     line;
  for (const Contestant& contestant : demo.contestants) {
    const Scores& scores = contestant.scores;
    std::snprintf(line, sizeof(line), "  %-10s %10.4g %20.4g %12.3f %10.1f\n",
                  contestant.name.c_str(), scores.rmse, scores.mean_log_likelihood,
                  scores.coverage_95, contestant.predictor->model().summary().seconds);
    text += line;
  }
  return text + "picture: " + demo.picture + "\n";
}

Json JsonDemo(const Demo& demo) {
  Json methods = Json::array();
  for (const Contestant& contestant : demo.contestants) {
    methods.push_back({{"name", contestant.name},
                       {"scores", ScoresJson(contestant.scores)},
                       {"seconds", ToJson(contestant.predictor->model().summary().seconds)}});
  }
  return {{"name", demo.name},           {"train_rows", demo.train_rows},
          {"test_rows", demo.test_rows}, {"noise_std", ToJson(demo.noise_std)},
          {"picture", demo.picture},     {"tables", demo.tables},
          {"methods", methods}};
}

int RunDemo(const DemoOptions& options) {
  std::error_code problem;
  std::filesystem::create_directories(options.folder, problem);
  if (problem) ThrowError(options.folder, ": cannot make the folder: ", problem.message());
  for (const char* picture : {"mountain_car.svg", "step.svg"})
    CheckOutput((std::filesystem::path(options.folder) / picture).string(), {});
  Json demos = Json::array();
  for (const auto& run : {MountainCarDemo, StepDemo}) {
    const Demo demo = run(options.folder, options.threads);
    if (options.json) {
      demos.push_back(JsonDemo(demo));
    } else {
      WriteOut((run == MountainCarDemo ? "" : "\n") + HumanDemo(demo));
    }
  }
  if (options.json) WriteOut(JsonText(Json{{"demos", demos}}, 2) + "\n");
  return kGood;
}

}  // namespace

Contestant FitAndScore(const std::string& name, const std::vector<Index>& hidden,
                       const std::vector<std::string>& input_names, const SampledFunction& train,
                       const SampledFunction& test, int threads) {
  const Dataset dataset({.source = name,
                         .schema = NumericSchema(input_names, {"value"}),
                         .inputs = Moments::Certain(train.X),
                         .targets = train.y});
  Recipe recipe;
  recipe.architecture.hidden = hidden;
  recipe.stack = Stacking::kNever;  // it compares one deep GP with one GP
  recipe.threads = threads;
  ProgressBar bar;
  const auto show = [&](const Progress& progress) {
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

Command AddDemo(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("demo", "Fit examples that need no data, and draw the results");
  app->footer(kDemoExample);
  const auto options = std::make_shared<DemoOptions>();
  app->add_option("-o,--output", options->folder, "Folder for the pictures; made if need be")
      ->type_name("DIR")
      ->capture_default_str();
  AddThreads(app, &options->threads);
  app->add_flag("--json", options->json, "Print all scores as one JSON object");
  return {app, [options] { return RunDemo(*options); }};
}

}  // namespace fathom::cli
