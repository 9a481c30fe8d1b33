// The first figure of Bui et al. 2016: a value function with a cliff, learnt by a GP and by two
// layers of GPs with two hidden units between them, and the functions inside the latter.
#include <filesystem>

#include "cli/demo.h"
#include "fathom/base/threads.h"
#include "fathom/inference/latent.h"
#include "plot/figure.h"
#include "study/mountain_car.h"

namespace fathom::cli {

namespace {

constexpr Index kTrainRows = 400;
constexpr Index kTestRows = 2000;
constexpr double kNoise = 2;  // steps
constexpr Index kColumns = 100;
constexpr Index kRows = 70;
constexpr AxisRange kPositions{CarState::kLeftWall, CarState::kGoal};
constexpr AxisRange kVelocities{-CarState::kMaxSpeed, CarState::kMaxSpeed};

Matrix AsGrid(const Vector& values) {
  return Eigen::Map<const Matrix>(values.data(), kRows, kColumns);
}

PanelOptions StatePanel(const std::string& title, const std::string& scale) {
  return {.title = title,
          .x_label = "position",
          .y_label = "velocity",
          .x_range = kPositions,
          .y_range = kVelocities,
          .color_scale = scale};
}

void AddMap(Figure* figure, Index row, Index column, const PanelOptions& panel,
            const Vector& values) {
  figure->AddHeatMap(row, column, panel,
                     {.x = kPositions, .y = kVelocities, .values = AsGrid(values)});
}

AxisRange Span(const Vector& values) {
  const double margin = 0.05 * (values.maxCoeff() - values.minCoeff());
  return {values.minCoeff() - margin, values.maxCoeff() + margin};
}

// The two functions of the first layer over the states, and the one of the second over the hidden
// space in which the first puts the training data.
void DrawInside(const Model& model, const SampledFunction& train, const Matrix& states, int threads,
                Figure* figure) {
  const ThreadPool pool(threads);
  const LatentFunctions functions(model.network, pool);
  const auto scaled = [&](const Matrix& x) {
    return StandardizeInputs(model.input_scaler, Moments::Certain(x));
  };
  const Moments first = functions.AllLayers(scaled(states))[0];
  for (Index unit = 0; unit < 2; ++unit) {
    PanelOptions panel = StatePanel("Layer 1: hidden unit " + std::to_string(unit + 1), "");
    panel.color_label = "h" + std::to_string(unit + 1);
    AddMap(figure, 1, unit, panel, first.mean.col(unit));
  }

  const Matrix data = functions.AllLayers(scaled(train.X))[0].mean;
  const AxisRange h1 = Span(data.col(0));
  const AxisRange h2 = Span(data.col(1));
  const Moments hidden = Moments::Certain(HeatMapPoints(h1, h2, kColumns, kRows));
  const Moments second =
      Unscale(model.target_scaler, Prediction::Gaussian(functions.Layer(1, hidden, Moments())))
          .components[0];
  figure->AddHeatMap(1, 2,
                     {.title = "Layer 2: value over hidden units",
                      .x_label = "h1",
                      .y_label = "h2",
                      .x_range = h1,
                      .y_range = h2,
                      .color_scale = "value",
                      .color_label = "value"},
                     {.x = h1, .y = h2, .values = AsGrid(second.mean.col(0))});
  figure->AddScatter(1, 2, {},
                     {.x = data.col(0), .y = data.col(1), .value = train.y.col(0), .radius = 2});
}

}  // namespace

Demo MountainCarDemo(const std::string& folder, int threads) {
  const ValueFunction value = SolveMountainCar();
  RandomStream train_stream(1);
  RandomStream test_stream(2);
  const SampledFunction train = SampleMountainCar(value, kTrainRows, kNoise, &train_stream);
  const SampledFunction test = SampleMountainCar(value, kTestRows, kNoise, &test_stream);
  const auto place = [&](const char* file) {
    return (std::filesystem::path(folder) / file).string();
  };
  Demo demo{.name = "mountain_car",
            .title = "Mountain car",
            .train_rows = kTrainRows,
            .test_rows = kTestRows,
            .noise_std = kNoise,
            .picture = place("mountain_car.svg"),
            .tables = {place("mountain_car_train.csv"), place("mountain_car_test.csv")}};
  std::vector<Contestant>& contestants = demo.contestants;
  const std::vector<std::string> names = {"position", "velocity"};
  SaveSamples(demo.tables[0], names, train);
  SaveSamples(demo.tables[1], names, test);
  contestants.push_back(FitAndScore("GP", {}, names, train, test, threads));
  contestants.push_back(FitAndScore("deep GP", {2}, names, train, test, threads));

  const Matrix states = HeatMapPoints(kPositions, kVelocities, kColumns, kRows);
  Vector truth(states.rows());
  for (Index n = 0; n < states.rows(); ++n) truth[n] = value(states(n, 0), states(n, 1));
  Figure figure({.title = "Mountain car: the value of a state, learnt from " +
                          std::to_string(kTrainRows) + " noisy evaluations"});
  PanelOptions panel = StatePanel("Truth", "value");
  panel.color_label = "value";
  AddMap(&figure, 0, 0, panel, truth);
  panel.title = "Training data";
  figure.AddScatter(0, 1, panel,
                    {.x = train.X.col(0), .y = train.X.col(1), .value = train.y.col(0)});
  const PredictOptions latent{.latent = true};
  Index column = 2;
  for (const Contestant& contestant : contestants) {
    const Prediction prediction = contestant.predictor->Predict(Moments::Certain(states), latent);
    panel.title = "Prediction of the " + contestant.name;
    AddMap(&figure, 0, column, panel, prediction.Mean().col(0));
    if (column == 3) {
      PanelOptions spread = StatePanel("Standard deviation of the " + contestant.name, "");
      spread.color_label = "std";
      AddMap(&figure, 1, 3, spread, prediction.Variance().cwiseSqrt().col(0));
    }
    ++column;
  }
  DrawInside(contestants[1].predictor->model(), train, states, threads, &figure);
  figure.Save(demo.picture);
  return demo;
}

}  // namespace fathom::cli
