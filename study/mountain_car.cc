#include "study/mountain_car.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fathom/base/error.h"

namespace fathom {
namespace {

constexpr std::array<int, 3> kThrottles{-1, 0, 1};

// Where a state lies on the grid: the lower corner of its cell and its place within the cell.
struct GridPlace {
  Index i, j;
  double u, w;  // in [0, 1], along position and velocity
};

GridPlace Locate(const CarState& state, Index positions, Index velocities) {
  const double p =
      std::clamp((state.position - CarState::kLeftWall) / (CarState::kGoal - CarState::kLeftWall),
                 0.0, 1.0) *
      static_cast<double>(positions - 1);
  const double q =
      std::clamp((state.velocity + CarState::kMaxSpeed) / (2 * CarState::kMaxSpeed), 0.0, 1.0) *
      static_cast<double>(velocities - 1);
  const Index i = std::min(static_cast<Index>(p), positions - 2);
  const Index j = std::min(static_cast<Index>(q), velocities - 2);
  return {i, j, p - static_cast<double>(i), q - static_cast<double>(j)};
}

double Interpolate(const Matrix& grid, const GridPlace& at) {
  const double low = (1 - at.w) * grid(at.i, at.j) + at.w * grid(at.i, at.j + 1);
  const double high = (1 - at.w) * grid(at.i + 1, at.j) + at.w * grid(at.i + 1, at.j + 1);
  return (1 - at.u) * low + at.u * high;
}

double Spaced(double low, double high, Index i, Index count) {
  return low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1);
}

// Where each throttle leads from each node; computed once, since every sweep asks again.
struct Transition {
  GridPlace place;
  bool at_goal;
};

std::vector<Transition> AllTransitions(Index positions, Index velocities) {
  std::vector<Transition> transitions;
  transitions.reserve(static_cast<std::size_t>(positions * velocities) * kThrottles.size());
  for (Index i = 0; i < positions; ++i) {
    // The last row stands for the states just short of the goal, which still move.
    const double position =
        std::min(Spaced(CarState::kLeftWall, CarState::kGoal, i, positions),
                 std::nextafter(CarState::kGoal, -std::numeric_limits<double>::infinity()));
    for (Index j = 0; j < velocities; ++j) {
      const double velocity = Spaced(-CarState::kMaxSpeed, CarState::kMaxSpeed, j, velocities);
      for (const int throttle : kThrottles) {
        const CarState next = MoveCar({position, velocity}, throttle);
        transitions.push_back({Locate(next, positions, velocities), next.AtGoal()});
      }
    }
  }
  return transitions;
}

}  // namespace

CarState MoveCar(const CarState& state, int throttle) {
  Require(throttle >= -1 && throttle <= 1, "throttle", "-1, 0 or 1", throttle);
  if (state.AtGoal()) return state;
  CarState next;
  next.velocity =
      std::clamp(state.velocity + 0.001 * throttle - 0.0025 * std::cos(3 * state.position),
                 -CarState::kMaxSpeed, CarState::kMaxSpeed);
  next.position = std::clamp(state.position + next.velocity, CarState::kLeftWall, CarState::kGoal);
  if (next.position == CarState::kLeftWall) next.velocity = 0;
  return next;
}

double ValueFunction::operator()(double position, double velocity) const {
  Require(std::isfinite(position), "position of the car", "a finite number", position);
  Require(std::isfinite(velocity), "velocity of the car", "a finite number", velocity);
  const CarState state{position, velocity};
  if (state.AtGoal()) return 0;
  return Interpolate(grid, Locate(state, grid.rows(), grid.cols()));
}

int ValueFunction::BestThrottle(const CarState& state) const {
  int best = 0;
  double best_value = -std::numeric_limits<double>::infinity();
  for (const int throttle : kThrottles) {
    const CarState next = MoveCar(state, throttle);
    const double value = (*this)(next.position, next.velocity);
    if (value > best_value) {
      best_value = value;
      best = throttle;
    }
  }
  return best;
}

ValueFunction SolveMountainCar(const ValueIterationOptions& options) {
  Require(options.positions >= 2, "positions of the value grid", "at least 2", options.positions);
  Require(options.velocities >= 2, "velocities of the value grid", "at least 2",
          options.velocities);
  Require(options.tolerance > 0, "tolerance of value iteration", "positive", options.tolerance);
  const Index nodes = options.positions * options.velocities;
  const std::vector<Transition> transitions = AllTransitions(options.positions, options.velocities);
  ValueFunction value{Matrix::Zero(options.positions, options.velocities)};
  double change = 0;
  for (int sweep = 0; sweep < options.max_sweeps; ++sweep) {
    change = 0;
    for (Index k = 0; k < nodes; ++k) {
      // Values are updated in place; news travels both ways when every other sweep runs backward.
      const Index node = sweep % 2 == 0 ? nodes - 1 - k : k;
      double best = -std::numeric_limits<double>::infinity();
      for (std::size_t a = 0; a < kThrottles.size(); ++a) {
        const Transition& move =
            transitions[static_cast<std::size_t>(node) * kThrottles.size() + a];
        best = std::max(best, -1 + (move.at_goal ? 0 : Interpolate(value.grid, move.place)));
      }
      double& old = value.grid.data()[node];
      change = std::max(change, std::abs(best - old));
      old = best;
    }
    if (change <= options.tolerance) return value;
  }
  throw NumericalError("value iteration of the mountain car: after " +
                       std::to_string(options.max_sweeps) + " sweeps the values still change by " +
                       std::to_string(change) + "; raise max_sweeps or the tolerance");
}

SampledFunction SampleMountainCar(const ValueFunction& value, Index n, double noise_std,
                                  RandomStream* stream) {
  Require(n >= 1, "number of samples", "at least 1", n);
  Require(noise_std >= 0 && std::isfinite(noise_std), "noise_std", "finite and at least 0",
          noise_std);
  SampledFunction sample{Matrix(n, 2), Matrix(n, 1)};
  for (Index i = 0; i < n; ++i) {
    sample.X(i, 0) =
        CarState::kLeftWall + (CarState::kGoal - CarState::kLeftWall) * stream->Uniform();
    sample.X(i, 1) = CarState::kMaxSpeed * (2 * stream->Uniform() - 1);
    sample.y(i, 0) = value(sample.X(i, 0), sample.X(i, 1)) + noise_std * stream->Normal();
  }
  return sample;
}

}  // namespace fathom
