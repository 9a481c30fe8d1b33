// Whole pieces of work: the O(M^3) part of a step, training steps, predictions.
#include <memory>
#include <string>
#include <vector>

#include "bench/harness.h"
#include "bench/problem.h"
#include "bench/work.h"
#include "fathom/inference/predict.h"

namespace fathom::bench {

namespace {

Case PrepareCase(Index M) {
  // One function with 2 inputs.
  struct Setup {
    explicit Setup(Index inducing)
        : problem({.rows = 1000, .inputs = 2, .hidden = {}, .inducing = {inducing}}),
          prepare(problem.model) {}
    Problem problem;
    PrepareAll prepare;
  };
  auto setup = std::make_shared<Setup>(M);
  return {[setup] { setup->prepare.Run(); }, PrepareWork(2, M, true), 1};
}

Case StepCase(const Shape& shape) {
  struct Setup {
    explicit Setup(const Shape& of) : problem(of), trainer(problem, of, pool) {}
    ThreadPool pool{1};
    Problem problem;
    Trainer trainer;
  };
  auto setup = std::make_shared<Setup>(shape);
  const DeepGp& model = setup->problem.model;
  return {[setup] { setup->trainer.Step(); }, StepWork(model, shape.batch),
          static_cast<double>(shape.batch) * PairsOfUpperLayers(model)};
}

Case PredictCase(Index rows, Index M, Precision precision) {
  struct Setup {
    Setup(Index count, const Shape& of)
        : problem(of),
          predictor(problem.model, pool, of.precision),
          x(Moments::Certain(problem.x.mean.topRows(count))) {}
    ThreadPool pool{1};
    Problem problem;
    NetworkPredictor predictor;
    Moments x;
  };
  auto setup =
      std::make_shared<Setup>(rows, Shape{.rows = 10'000, .inducing = {M}, .precision = precision});
  return {[setup] { setup->predictor.Predict(setup->x, {}); },
          static_cast<double>(rows) * RowWork(setup->problem.model, false),
          static_cast<double>(rows)};
}

}  // namespace

void RegisterModelBenchmarks() {
  for (const Index M : {50, 100, 200, 400})
    Register("prepare_m" + std::to_string(M), [=] { return PrepareCase(M); });
  const auto step = [](const std::string& name, const Shape& shape) {
    Register("step_" + name, [=] { return StepCase(shape); });
  };
  step("7373x8_h2_m100_b1024", {});
  step("7373x8_h2_m100_b1024_mixed", {.precision = Precision::kMixed});
  step("7373x8_h2_m100_b256", {.batch = 256});
  step("7373x8_h2_m50_b256", {.inducing = {50}, .batch = 256});
  step("7373x8_h2x2_m100_b1024", {.hidden = {2, 2}});
  step("7373x8_h2x3_m100_b1024", {.hidden = {2, 2, 2}});
  for (const Index rows : {10'000, 1}) {
    const std::string name = "predict_" + std::to_string(rows) + "_m100";
    Register(name, [=] { return PredictCase(rows, 100, Precision::kDouble); });
    Register(name + "_mixed", [=] { return PredictCase(rows, 100, Precision::kMixed); });
  }
}

}  // namespace fathom::bench
