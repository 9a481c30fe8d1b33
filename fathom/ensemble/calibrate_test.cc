#include "fathom/ensemble/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "fathom/base/random.h"

namespace fathom {
namespace {

// A table whose centre is known: y = noise around 0, which is larger where x > 0.
ScaledTable Noisy(Index rows, double ratio) {
  RandomStream stream(5);
  DatasetParts parts;
  parts.schema = NumericSchema({"x"}, {"y"});
  const Matrix x = stream.NormalMatrix(rows, 1);
  parts.inputs = Moments::Certain(x);
  parts.targets = stream.NormalMatrix(rows, 1);
  for (Index n = 0; n < rows; ++n) parts.targets(n, 0) *= x(n, 0) > 0 ? ratio : 1;
  ScaledTable table = ScaleTable(parts, Recipe());
  table.y = parts.targets;  // as they are, so that the numbers below are easy
  table.target_scaler = {Vector::Zero(1), Vector::Ones(1), Vector::Ones(1)};
  return table;
}

LeftOut KnownCentre(const ScaledTable& table, double sd) {
  Moments centre(table.rows(), 1);
  centre.mean.setZero();
  centre.var.setConstant(sd * sd);
  return {centre, [centre](std::int32_t) { return centre; }};
}

double Coverage(const Calibration& calibration) { return calibration.check.coverage_95; }

TEST(Calibrate, CorrectsErrorBarsThatAreTooSmallOrTooLarge) {
  const ThreadPool pool(1);
  for (const double promised : {0.2, 1.0, 5.0}) {
    const ScaledTable table = Noisy(400, 1);
    const Calibration calibration = Calibrate(table, KnownCentre(table, promised), 1, pool);
    EXPECT_NEAR(Coverage(calibration), 0.95, 0.03);
    // A standard normal's own mean log density is -1.42.
    EXPECT_GT(calibration.check.log_likelihood, -1.47);
  }
}

TEST(Calibrate, FindsWhereTheNoiseIsLarger) {
  const ThreadPool pool(1);
  const ScaledTable table = Noisy(600, 10);
  const Calibration calibration = Calibrate(table, KnownCentre(table, 5), 1, pool);
  EXPECT_NE(calibration.local_noise, nullptr);
  // With one width for all, -1.42 - log(7) = -3.4; with the true ones, -1.42 - 1.15 = -2.57.
  EXPECT_GT(calibration.check.log_likelihood, -2.75);
  const ScaledTable even = Noisy(600, 1);
  EXPECT_EQ(Calibrate(even, KnownCentre(even, 1), 1, pool).local_noise, nullptr);
}

// Eight rows of each of 20 places, each predicted by the mean of the others there, so that the mean
// tells how far off it is. The noise is the same everywhere.
TEST(Calibrate, WhatARowDoesToItsOwnCentreTellsNothing) {
  constexpr Index kPlaces = 20, kRows = 8 * kPlaces;
  const ThreadPool pool(1);
  ScaledTable table = Noisy(kRows, 1);
  for (Index n = 0; n < kRows; ++n) table.x.mean(n, 0) = static_cast<double>(n % kPlaces);
  const auto centre_without = [&](auto&& is_out) {
    Moments centre(kRows, 1);
    centre.var.setConstant(1);
    for (Index n = 0; n < kRows; ++n) {
      double sum = 0, count = 0;
      for (Index m = n % kPlaces; m < kRows; m += kPlaces) {
        if (is_out(n, m)) continue;
        sum += table.y(m, 0);
        count += 1;
      }
      centre.mean(n, 0) = sum / count;
    }
    return centre;
  };
  const LeftOut left_out = {
      centre_without([](Index n, Index m) { return n == m; }), [&](std::int32_t fold) {
        return centre_without([&](Index, Index m) { return table.fold_of_row[m] == fold; });
      }};
  EXPECT_EQ(Calibrate(table, left_out, 1, pool).local_noise, nullptr);
}

// Errors that are a hair larger than the rounding, or smaller, have nearly the same floor.
TEST(Calibrate, TheFloorComesInByDegrees) {
  const ThreadPool pool(1);
  ScaledTable table = Noisy(400, 1);
  const double rounding = 0.1 / std::sqrt(12.0);
  table.y = table.y.unaryExpr([](double y) { return 0.1 * std::round(10 * y); });
  Matrix errors = RandomStream(7).NormalMatrix(400, 1);
  errors *= std::sqrt(400 / errors.squaredNorm());
  for (const auto& [ratio, part] : {std::pair(0.9, 0.0), {1.01, 0.01}, {1.5, 0.5}, {3.0, 1.0}}) {
    LeftOut left_out{Moments(table.y - ratio * rounding * errors, Matrix::Ones(400, 1)), nullptr};
    const Calibration calibration = Calibrate(table, left_out, 1, pool);
    EXPECT_NEAR(calibration.floor[0], part * rounding, 1e-9) << ratio;
  }
}

TEST(ScaleShares, HeavyTailsGetWideScales) {
  RandomStream stream(6);
  const Vector scales =
      (Vector(12) << 0.056, 0.1, 0.18, 0.32, 0.56, 1, 1.8, 3.2, 5.6, 10, 20, 50).finished();
  Matrix z = stream.NormalMatrix(500, 1);
  const Vector normal = ScaleShares(scales, z);
  EXPECT_NEAR(normal.sum(), 1, 1e-12);
  z.topRows(25) *= 20;
  const Vector heavy = ScaleShares(scales, z);
  EXPECT_LT(normal.tail(3).sum(), 0.002);
  EXPECT_NEAR(heavy.tail(3).sum(), 0.05, 0.03);
}

}  // namespace
}  // namespace fathom
