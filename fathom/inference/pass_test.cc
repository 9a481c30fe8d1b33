#include "fathom/inference/pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fathom/inference/aep_energy.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

struct PassCase {
  std::string name;
  RandomModelOptions model;
  bool joint = false;
  bool uncertain = false;  // whether raw inputs have variance
};

class PassOf : public testing::TestWithParam<PassCase> {
 protected:
  PassOf() : stream_(1), model_(RandomModel(GetParam().model, &stream_)) {
    model_.full_covariance = GetParam().joint;
    x_ = Moments::Certain(stream_.NormalMatrix(5, 2));
    if (GetParam().uncertain) AddInputVariance(&stream_, &x_);
    y_ = stream_.NormalMatrix(5, GetParam().model.outputs);
  }

  double F(const Moments& x) const {
    const ThreadPool pool(1);
    return AepEnergy(model_, x, y_, {.alpha = 0.6}, pool).Energy(model_, batch_, nullptr).F;
  }

  RandomStream stream_;
  DeepGp model_;
  Moments x_;
  Matrix y_;
  std::vector<Index> batch_ = {4, 0, 1, 2};
};

constexpr Propagation kSamples = Propagation::kSamples;
constexpr Propagation kPoints = Propagation::kPoints;
INSTANTIATE_TEST_SUITE_P(
    Propagations, PassOf,
    testing::Values(
        PassCase{"OneLayer", {.M = 3}}, PassCase{"OneLayerUncertain", {.M = 3}, false, true},
        PassCase{"Moments", {.hidden = {2, 2}, .M = 3, .linear_mean = true}},
        PassCase{"MomentsSkip", {.hidden = {2, 2}, .M = 3, .skip = true}, false, true},
        PassCase{"Joint", {.hidden = {2, 2}, .outputs = 2, .M = 3}, true},
        PassCase{"JointSkip", {.hidden = {2}, .M = 3, .skip = true}, true},
        PassCase{"JointUncertain", {.hidden = {2, 2}, .M = 3, .skip = true}, true, true},
        PassCase{"Samples", {.hidden = {2, 2}, .M = 3, .propagation = kSamples}},
        PassCase{"SamplesSkip",
                 {.hidden = {2, 2}, .M = 3, .skip = true, .propagation = kSamples},
                 false,
                 true},
        PassCase{"Points", {.hidden = {2}, .M = 3, .propagation = kPoints}},
        PassCase{"PointsSkip", {.hidden = {2, 2}, .M = 3, .skip = true, .propagation = kPoints}}),
    [](const auto& test) { return test.param.name; });

// The raw inputs' means by central differences; their variances, which may be 0 and never less, by
// differences from above.
TEST_P(PassOf, GradientOfTheInputs) {
  const ThreadPool pool(1);
  const AepEnergy energy(model_, x_, y_, {.alpha = 0.6}, pool);
  Moments d_x;
  DeepGp gradient;
  const double value = energy.Energy(model_, batch_, &gradient, &d_x).F;
  ASSERT_NEAR(value, F(x_), 1e-11 * std::abs(value));
  ASSERT_EQ(d_x.rows(), 4);
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const auto row = static_cast<Index>(i);
    for (Index q = 0; q < x_.cols(); ++q) {
      SCOPED_TRACE("row " + std::to_string(batch_[i]) + ", input " + std::to_string(q));
      const auto mean_at = [&](double step) {
        Moments moved = x_;
        moved.mean(batch_[i], q) += step;
        return F(moved);
      };
      constexpr double h = 1e-3;
      const double slope =
          (8 * (mean_at(h) - mean_at(-h)) - mean_at(2 * h) + mean_at(-2 * h)) / (12 * h);
      EXPECT_NEAR(d_x.mean(row, q), slope, 2e-7 * std::max(1.0, std::abs(slope)));
      const auto var_at = [&](int steps) {
        Moments moved = x_;
        moved.var(batch_[i], q) += steps * h;
        return F(moved);
      };
      const double above =
          (-25 * var_at(0) + 48 * var_at(1) - 36 * var_at(2) + 16 * var_at(3) - 3 * var_at(4)) /
          (12 * h);
      EXPECT_NEAR(d_x.var(row, q), above, 2e-6 * std::max(1.0, std::abs(above)));
    }
  }
}

TEST_P(PassOf, InputsAreAskedForWithoutTheParameters) {
  const ThreadPool pool(2);
  const AepEnergy energy(model_, x_, y_, {.alpha = 0.6}, pool);
  Moments alone;
  Moments beside;
  DeepGp gradient;
  energy.Energy(model_, batch_, nullptr, &alone);
  energy.Energy(model_, batch_, &gradient, &beside);
  EXPECT_EQ(alone.mean, beside.mean);
  EXPECT_EQ(alone.var, beside.var);
}

TEST_P(PassOf, SumsOfBatchesAddUp) {
  const ThreadPool pool(1);
  ConditionedModel gps;
  gps.Prepare(model_, {0.6, 5}, pool);
  Network network;
  network.Prepare(model_, {.uncertain = GetParam().uncertain, .joint = GetParam().joint}, gps,
                  pool);
  const LogZOptions options{.alpha = 0.6, .paths = TrainingPaths(model_, 1, 0)};
  const Vector weights;
  const auto sum = [&](const std::vector<Index>& rows) {
    const FunctionShares shares(model_, Alone());
    LogZWorkspace workspace;
    return SumLogZ(network, options, {x_, y_, weights, rows, rows}, Want::kGradient, {pool, shares},
                   &workspace);
  };
  Sums whole = sum({0, 1, 2, 3, 4});
  Sums parts = sum({0, 1});
  parts.Add(sum({2, 3, 4}));
  ASSERT_EQ(parts.values().size(), whole.values().size());
  for (std::size_t i = 0; i < whole.values().size(); ++i)
    EXPECT_NEAR(parts.values()[i], whole.values()[i], 1e-11 * (1 + std::abs(whole.values()[i])));
}

// Layer by layer or in one go: the same bits.
TEST(Pass, OfPartsOfANetworkIsThatOfTheWhole) {
  RandomStream stream(2);
  const DeepGp model = RandomModel({.hidden = {2, 3}, .skip = true}, &stream);
  const Moments x = Moments::Certain(stream.NormalMatrix(7, 2));
  const ThreadPool pool(1);
  ConditionedModel gps;
  gps.Prepare(model, Cavity::Posterior(), pool);
  Network network;
  network.Prepare(model, {.backward = false}, gps, pool);
  Pass whole;
  whole.Reserve(network, {0, 3}, 7, 0);
  whole.raw() = x;
  whole.Up(network, {}, {});
  Pass lower;
  lower.Reserve(network, {0, 1}, 7, 0);
  lower.raw() = x;
  lower.Up(network, {}, {});
  Pass upper;
  upper.Reserve(network, {1, 3}, 7, 0);
  ASSERT_TRUE(upper.NeedsRaw());
  upper.entered() = lower.top();
  upper.raw() = x;
  upper.Up(network, {}, {});
  EXPECT_EQ(upper.top().moments.mean, whole.top().moments.mean);
  EXPECT_EQ(upper.top().moments.var, whole.top().moments.var);
  EXPECT_EQ(whole.output(0).moments.mean, lower.top().moments.mean);
}

}  // namespace
}  // namespace fathom
