#include "bnn/hmc_steps.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"

namespace fathom::bnn {

void Leapfrog(const HmcTarget& target, const Vector& inverse_mass, double step, HmcPoint* point) {
  point->momentum += 0.5 * step * point->gradient;
  point->weights += step * inverse_mass.cwiseProduct(point->momentum);
  point->log_posterior = target(point->weights, &point->gradient);
  point->momentum += 0.5 * step * point->gradient;
}

double AcceptanceProbability(double start, double end) {
  if (std::isnan(start - end)) return 0;
  return std::exp(std::min(0.0, start - end));
}

double InverseGamma::Draw(RandomStream* stream) const { return scale / DrawGamma(shape, stream); }

InverseGamma Conditional(const InverseGamma& prior, double n, double squares) {
  return {prior.shape + 0.5 * n, prior.scale + 0.5 * squares};
}

double DrawGamma(double shape, RandomStream* stream) {
  FATHOM_CHECK(shape >= 1);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = stream->Normal();
    const double cube_root = 1 + c * x;
    if (cube_root <= 0) continue;
    const double v = cube_root * cube_root * cube_root;
    if (std::log(stream->Uniform()) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
  }
}

}  // namespace fathom::bnn
