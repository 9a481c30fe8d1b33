// Mixed precision against double: the energy, its gradient and predictions of whole models.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fathom/base/random.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/predict.h"
#include "fathom/model/initialize.h"
#include "fathom/optimize/minimize.h"

namespace fathom {
namespace {

// A table with something to learn, and a model that has begun to.
struct Problem {
  explicit Problem(std::vector<Index> hidden) {
    RandomStream stream(3);
    x = Moments::Certain(stream.NormalMatrix(150, 3));
    y = (x.mean.col(0).array().sin() + 0.5 * x.mean.col(1).array()).matrix() +
        0.1 * stream.NormalMatrix(150, 1);
    Architecture architecture;
    architecture.hidden = std::move(hidden);
    architecture.inducing = {20, 15};
    model = Initialize(architecture, {}, 1, x.mean, 1);
    rows.resize(150);
    std::iota(rows.begin(), rows.end(), Index{0});
    const ThreadPool pool(1);
    const AepEnergy energy(model, x, y, {}, pool);
    MinimizeState state(Pack(model, energy.packing()));
    Minimize(energy, {.steps = 60, .warm_up = 10}, 1, nullptr, &state);
    Unpack(state.parameters, energy.packing(), &model);
  }
  Moments x;
  Matrix y;
  DeepGp model;
  std::vector<Index> rows;
};

// Not with one hidden unit: its pseudo-points crowd on a line, K is near singular, and its inverse
// makes the gradient's error as large as the gradient.
class MixedPrecision : public testing::TestWithParam<std::vector<Index>> {};
INSTANTIATE_TEST_SUITE_P(Models, MixedPrecision,
                         testing::Values(std::vector<Index>{2}, std::vector<Index>{5}));

TEST_P(MixedPrecision, EnergyAndGradientAreThoseOfDouble) {
  const Problem problem(GetParam());
  const ThreadPool pool(2);
  Vector gradient[2];
  double value[2];
  for (const Precision precision : {Precision::kDouble, Precision::kMixed}) {
    const AepEnergy energy(problem.model, problem.x, problem.y, {.precision = precision}, pool);
    const int k = precision == Precision::kMixed ? 1 : 0;
    std::string reason;
    ASSERT_TRUE(energy.Evaluate(Pack(problem.model, energy.packing()), problem.rows, &value[k],
                                &gradient[k], &reason))
        << reason;
  }
  EXPECT_NE(value[1], value[0]);  // it is another precision
  EXPECT_NEAR(value[1], value[0], 1e-4 * (1 + std::abs(value[0])));
  EXPECT_LE((gradient[1] - gradient[0]).norm(), 1e-2 * gradient[0].norm());
}

TEST_P(MixedPrecision, PredictionsAreThoseOfDouble) {
  const Problem problem(GetParam());
  const ThreadPool pool(1);
  const Moments exact = NetworkPredictor(problem.model, pool).Predict(problem.x, {}).components[0];
  const Moments mixed =
      NetworkPredictor(problem.model, pool, Precision::kMixed).Predict(problem.x, {}).components[0];
  EXPECT_LE((mixed.mean - exact.mean).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LE((mixed.var - exact.var).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_NE(mixed.var, exact.var);
}

TEST(MixedPrecisionNan, IsNotHidden) {
  Problem problem({2});
  problem.model.layers[1].gps[0].theta[1] = std::nan("");
  const ThreadPool pool(1);
  const AepEnergy energy(problem.model, problem.x, problem.y, {.precision = Precision::kMixed},
                         pool);
  DeepGp model = problem.model;
  double value = 0;
  std::string reason;
  EXPECT_FALSE(
      energy.Evaluate(Pack(model, energy.packing()), problem.rows, &value, nullptr, &reason));
}

}  // namespace
}  // namespace fathom
