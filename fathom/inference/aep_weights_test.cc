// Rows that count more than once.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fathom/inference/aep_energy.h"
#include "tests/support/energy_gradient.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

class WeightedEnergy : public testing::TestWithParam<double> {
 protected:
  RandomStream stream_{4};
  const DeepGp model_ = RandomModel({.hidden = {2}}, &stream_);
  const ThreadPool pool_{1};
};

TEST_P(WeightedEnergy, GradientOfEveryParameter) {
  Moments x = Moments::Certain(stream_.NormalMatrix(6, 2));
  AddInputVariance(&stream_, &x);
  const Matrix y = stream_.NormalMatrix(6, 1);
  const Vector weights = RandomPositive(6, 1, &stream_);
  const AepEnergy energy(model_, x, y, {.alpha = GetParam(), .weights = weights}, pool_);
  const std::vector<Index> batch = {0, 2, 5};
  ExpectEnergyGradientMatches(energy, Pack(model_, energy.packing()), batch, 1e-7);
}

TEST_P(WeightedEnergy, AWholeNumberIsThatManyRows) {
  const Moments x = Moments::Certain(stream_.NormalMatrix(5, 2));
  const Matrix y = stream_.NormalMatrix(5, 1);
  const Vector weights = (Vector(5) << 2, 1, 3, 1, 2).finished();
  const std::vector<Index> repeated = {0, 0, 1, 2, 2, 2, 3, 4, 4};
  const Moments many_x = Moments::Certain(x.mean(repeated, Eigen::all));
  const Matrix many_y = y(repeated, Eigen::all);

  const AepEnergy few(model_, x, y, {.alpha = GetParam(), .weights = weights}, pool_);
  const AepEnergy many(model_, many_x, many_y, {.alpha = GetParam()}, pool_);
  EXPECT_EQ(few.N(), 9);
  DeepGp few_gradient, many_gradient;
  const double F = few.Energy(model_, AllRows(5), &few_gradient).F;
  const double many_F = many.Energy(model_, AllRows(9), &many_gradient).F;
  EXPECT_NEAR(F, many_F, 1e-12 * std::abs(many_F));
  const std::vector<ParameterArray> a = Parameters(&few_gradient), b = Parameters(&many_gradient);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (Index k = 0; k < a[i].size; ++k)
      EXPECT_NEAR(a[i].data[k], b[i].data[k], 1e-10 * (1 + std::abs(b[i].data[k]))) << a[i].name;
  }
}

TEST_P(WeightedEnergy, TheMeanOverBatchesIsTheWhole) {
  const Moments x = Moments::Certain(stream_.NormalMatrix(4, 2));
  const Matrix y = stream_.NormalMatrix(4, 1);
  const Vector weights = RandomPositive(4, 1, &stream_);
  const AepEnergy energy(model_, x, y, {.alpha = GetParam(), .weights = weights}, pool_);
  double mean = 0;
  for (Index n = 0; n < 4; ++n) {
    const std::vector<Index> one = {n};
    mean += energy.Energy(model_, one, nullptr).F / 4;
  }
  EXPECT_NEAR(mean, energy.Energy(model_, AllRows(4), nullptr).F, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Alphas, WeightedEnergy, testing::Values(0.0, 0.5, 1.0));

}  // namespace
}  // namespace fathom
