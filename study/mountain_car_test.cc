#include "study/mountain_car.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"

namespace fathom {
namespace {

// Solved once for all tests of this file.
const ValueFunction& Solved() {
  static const ValueFunction value = SolveMountainCar();
  return value;
}

CarState RandomState(RandomStream* stream) {
  const double position =
      CarState::kLeftWall + (CarState::kGoal - CarState::kLeftWall) * stream->Uniform();
  return {position, CarState::kMaxSpeed * (2 * stream->Uniform() - 1)};
}

// Steps to the goal by the given rule, at most `limit`.
template <typename Rule>
int Ride(CarState state, int limit, const Rule& rule) {
  int steps = 0;
  for (; !state.AtGoal() && steps < limit; ++steps) state = MoveCar(state, rule(state));
  return steps;
}

TEST(MoveCar, FollowsTheEquationsOfMotion) {
  const CarState next = MoveCar({-0.5, 0.01}, 1);
  EXPECT_DOUBLE_EQ(next.velocity, 0.01 + 0.001 - 0.0025 * std::cos(-1.5));
  EXPECT_DOUBLE_EQ(next.position, -0.5 + next.velocity);
}

TEST(MoveCar, WallStopsTheCarAndSpeedIsBounded) {
  const CarState wall = MoveCar({-1.19, -0.05}, -1);
  EXPECT_EQ(wall.position, CarState::kLeftWall);
  EXPECT_EQ(wall.velocity, 0);
  EXPECT_EQ(MoveCar({-1.0, 0.07}, 1).velocity, CarState::kMaxSpeed);
  EXPECT_EQ(MoveCar({0.3, -0.07}, -1).velocity, -CarState::kMaxSpeed);
}

TEST(MoveCar, RideEndsAtTheGoal) {
  const CarState goal = MoveCar({0.49, 0.05}, 0);
  EXPECT_TRUE(goal.AtGoal());
  EXPECT_EQ(MoveCar(goal, -1).position, goal.position);
  EXPECT_THROW(MoveCar(goal, 2), Error);
}

TEST(MoveCar, CarIsTooWeakToClimbFromRest) {
  EXPECT_EQ(Ride({-0.5, 0}, 5000, [](const CarState&) { return 1; }), 5000);
}

TEST(ValueFunction, IsZeroAtTheGoalOnly) {
  for (const double velocity : {-0.07, 0.0, 0.07}) EXPECT_EQ(Solved()(0.5, velocity), 0);
  EXPECT_NEAR(Solved()(0.499, 0.05), -1, 1e-6);
  EXPECT_LE(Solved().grid.maxCoeff(), -1);
}

TEST(ValueFunction, ClampsStatesBeyondTheBoundsAndRefusesNan) {
  EXPECT_EQ(Solved()(-9, 0.9), Solved()(-1.2, 0.07));
  EXPECT_EQ(Solved()(-0.5, -9), Solved()(-0.5, -0.07));
  EXPECT_EQ(Solved()(9, -9), 0);
  EXPECT_THROW(Solved()(std::nan(""), 0), Error);
  EXPECT_THROW(Solved()(0, std::nan("")), Error);
}

TEST(ValueFunction, SolvesBellmansEquationAtTheNodes) {
  const Matrix& grid = Solved().grid;
  double worst = 0;
  for (Index i = 0; i + 1 < grid.rows(); ++i) {
    for (Index j = 0; j < grid.cols(); ++j) {
      const double position =
          -1.2 + 1.7 * static_cast<double>(i) / static_cast<double>(grid.rows() - 1);
      const double velocity =
          -0.07 + 0.14 * static_cast<double>(j) / static_cast<double>(grid.cols() - 1);
      double best = -1e9;
      for (const int throttle : {-1, 0, 1}) {
        const CarState next = MoveCar({position, velocity}, throttle);
        best = std::max(best, -1 + Solved()(next.position, next.velocity));
      }
      worst = std::max(worst, std::abs(best - grid(i, j)));
    }
  }
  EXPECT_LT(worst, 1e-7);
}

TEST(ValueFunction, NeverBeatsTopSpeed) {
  RandomStream stream(2);
  for (int k = 0; k < 2000; ++k) {
    const CarState state = RandomState(&stream);
    EXPECT_LE(Solved()(state.position, state.velocity),
              -(CarState::kGoal - state.position) / CarState::kMaxSpeed + 1e-9);
  }
}

TEST(ValueFunction, NeverFallsShortOfFullThrottle) {
  RandomStream stream(3);
  int reached = 0;
  for (int k = 0; k < 2000; ++k) {
    const CarState state = RandomState(&stream);
    const int steps = Ride(state, 60, [](const CarState&) { return 1; });
    if (steps == 60) continue;
    ++reached;
    // Near the cliff the interpolation mixes in states that need another swing; grant it the cell's
    // width.
    const double here = Solved()(state.position, state.velocity);
    const double faster = Solved()(state.position, state.velocity + 0.003);
    EXPECT_GE(std::max(here, faster), -steps - 1.5) << state.position << " " << state.velocity;
  }
  EXPECT_GT(reached, 500);
}

TEST(ValueFunction, BestThrottleReachesTheGoalInAboutMinusValueSteps) {
  RandomStream stream(4);
  double total_gap = 0;
  int far_off = 0;
  for (int k = 0; k < 2000; ++k) {
    const CarState state = RandomState(&stream);
    const int steps = Ride(state, 1000, [](const CarState& s) { return Solved().BestThrottle(s); });
    ASSERT_LT(steps, 160) << state.position << " " << state.velocity;
    const double gap = steps + Solved()(state.position, state.velocity);
    total_gap += std::abs(gap);
    far_off += std::abs(gap) > 5;
  }
  EXPECT_LT(total_gap / 2000, 1);
  EXPECT_LT(far_off, 60);  // states beside the cliff, where a step of the grid costs a whole swing
}

TEST(ValueFunction, HasACliff) {
  const Matrix& grid = Solved().grid;
  const Index across = grid.cols() - 1;
  const double steepest = (grid.rightCols(across) - grid.leftCols(across)).cwiseAbs().maxCoeff();
  EXPECT_GT(steepest, 10);
  EXPECT_LT(grid.minCoeff(), -100);
  EXPECT_GT(grid.minCoeff(), -125);
}

TEST(SolveMountainCar, SaysWhenItDidNotConverge) {
  EXPECT_THROW(SolveMountainCar({.positions = 21, .velocities = 21, .max_sweeps = 3}),
               NumericalError);
  EXPECT_THROW(SolveMountainCar({.positions = 1}), Error);
  EXPECT_THROW(SolveMountainCar({.tolerance = 0}), Error);
}

TEST(SampleMountainCar, CoversTheStatesAndAddsTheNoise) {
  RandomStream stream(5);
  const SampledFunction sample = SampleMountainCar(Solved(), 5000, 2.0, &stream);
  double sum_of_squares = 0;
  for (Index i = 0; i < 5000; ++i) {
    const double residual = sample.y(i, 0) - Solved()(sample.X(i, 0), sample.X(i, 1));
    sum_of_squares += residual * residual;
  }
  EXPECT_NEAR(std::sqrt(sum_of_squares / 5000), 2, 0.1);
  EXPECT_GE(sample.X.col(0).minCoeff(), -1.2);
  EXPECT_LT(sample.X.col(0).minCoeff(), -1.19);
  EXPECT_LT(sample.X.col(0).maxCoeff(), 0.5);
  EXPECT_GT(sample.X.col(0).maxCoeff(), 0.49);
  EXPECT_LE(sample.X.col(1).cwiseAbs().maxCoeff(), 0.07);
  EXPECT_NEAR(sample.X.col(1).mean(), 0, 0.003);
}

TEST(SampleMountainCar, SameSeedSameSampleAndNoNoiseIsExact) {
  RandomStream a(7), b(7);
  const SampledFunction first = SampleMountainCar(Solved(), 20, 0, &a);
  const SampledFunction second = SampleMountainCar(Solved(), 20, 0, &b);
  EXPECT_EQ(first.X, second.X);
  for (Index i = 0; i < 20; ++i) EXPECT_EQ(first.y(i, 0), Solved()(first.X(i, 0), first.X(i, 1)));
  EXPECT_THROW(SampleMountainCar(Solved(), 0, 1, &a), Error);
  EXPECT_THROW(SampleMountainCar(Solved(), 5, -1, &a), Error);
}

}  // namespace
}  // namespace fathom
