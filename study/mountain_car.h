// The mountain car of Sutton and Barto: a car too weak for the hill must first back up the other
// side. Its optimal value function has a cliff, between the states from which one push suffices and
// those from which the car must swing back once more, that a single GP with one length scale cannot
// follow.
#ifndef FATHOM_STUDY_MOUNTAIN_CAR_H_
#define FATHOM_STUDY_MOUNTAIN_CAR_H_

#include "fathom/base/random.h"
#include "fathom/base/types.h"
#include "study/sampled_function.h"

namespace fathom {

struct CarState {
  static constexpr double kLeftWall = -1.2;
  static constexpr double kGoal = 0.5;
  static constexpr double kMaxSpeed = 0.07;

  double position = 0;
  double velocity = 0;

  bool AtGoal() const { return position >= kGoal; }
};

// One step of time; throttle is -1, 0 or 1. The left wall stops the car; the goal ends the ride, so
// a car there stays.
CarState MoveCar(const CarState& state, int throttle);

// Minus the number of steps to the goal under the best throttle, on a regular grid of states that
// spans [kLeftWall, kGoal] x [-kMaxSpeed, kMaxSpeed], with bilinear interpolation between.
struct ValueFunction {
  // [positions, velocities]. The value jumps to 0 at the goal, so the last row holds the limit from
  // the left.
  Matrix grid;

  // A state beyond the bounds counts as the nearest state within; 0 at the goal.
  double operator()(double position, double velocity) const;
  // The throttle that leads to the best next state; of equals, the lowest.
  int BestThrottle(const CarState& state) const;
};

struct ValueIterationOptions {
  Index positions = 301;
  Index velocities = 301;
  double tolerance = 1e-9;  // largest change of any value in the last sweep
  int max_sweeps = 2000;
};

// Value iteration, undiscounted. Throws NumericalError if max_sweeps do not reach the tolerance.
ValueFunction SolveMountainCar(const ValueIterationOptions& options = {});

// n states, uniform on the grid's span: X [n, 2] is (position, velocity), y [n, 1] the value plus
// N(0, noise_std^2).
SampledFunction SampleMountainCar(const ValueFunction& value, Index n, double noise_std,
                                  RandomStream* stream);

}  // namespace fathom

#endif  // FATHOM_STUDY_MOUNTAIN_CAR_H_
