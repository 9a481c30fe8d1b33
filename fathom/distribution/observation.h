// What is observed of a row's Gaussian functions, where a Gaussian does not tell it: counts, heavy
// tails, noise that is uncertain itself. Prediction mixes it over its components.
#ifndef FATHOM_DISTRIBUTION_OBSERVATION_H_
#define FATHOM_DISTRIBUTION_OBSERVATION_H_

#include <functional>
#include <memory>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

class Observation {
 public:
  virtual ~Observation() = default;

  virtual Index targets() const = 0;
  virtual bool discrete() const = 0;  // whole numbers from 0 on
  // The moments of y [N, targets] from those of f [N, functions].
  virtual Moments Observe(Moments f) const = 0;
  // Of one row, whose functions are N(m, v): the log density (or probability) of all its targets
  // jointly, and P(y_t <= y), or P(y_t > y) if `upper`, of one.
  virtual double LogDensity(const double* y, const double* m, const double* v) const = 0;
  virtual double Tail(Index target, double y, const double* m, const double* v,
                      bool upper) const = 0;
};

// shift + scale y, for each target.
std::shared_ptr<const Observation> Rescaled(std::shared_ptr<const Observation> observation,
                                            Vector shift, Vector scale);

// Of one distribution, told by P(y <= t), or P(y > t) if `upper`, and where it roughly lies: the
// quantile to 1e-11 of its spread, and the continuous ranked probability score of `y` to about
// 1e-8.
struct TailFunction {
  std::function<double(double t, bool upper)> tail;
  bool discrete = false;
  double mean = 0, sd = 0;

  double Quantile(double probability) const;
  double Crps(double y) const;
};

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTION_OBSERVATION_H_
