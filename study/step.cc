#include "study/step.h"

#include <cmath>

#include "fathom/base/error.h"

namespace fathom {

double StepFunction(double x) { return static_cast<double>((x > 0) - (x < 0)); }

SampledFunction SampleStep(const StepOptions& options, RandomStream* stream) {
  Require(options.samples >= 1, "number of samples", "at least 1", options.samples);
  Require(options.noise_std >= 0 && std::isfinite(options.noise_std), "noise_std",
          "finite and at least 0", options.noise_std);
  SampledFunction sample{Matrix(options.samples, 1), Matrix(options.samples, 1)};
  for (Index i = 0; i < options.samples; ++i) {
    sample.X(i, 0) = 2 * stream->Uniform() - 1;
    sample.y(i, 0) = StepFunction(sample.X(i, 0)) + options.noise_std * stream->Normal();
  }
  return sample;
}

SampledFunction StepTestGrid(Index points) {
  Require(points >= 2, "points of the test grid", "at least 2", points);
  SampledFunction grid{Vector::LinSpaced(points, -1, 1), Matrix(points, 1)};
  for (Index i = 0; i < points; ++i) grid.y(i, 0) = StepFunction(grid.X(i, 0));
  return grid;
}

}  // namespace fathom
