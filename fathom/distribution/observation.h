// What is observed of a row's Gaussian functions, where a Gaussian does not tell it: counts, heavy
// tails, noise that is uncertain itself. Prediction mixes it over its components.
#ifndef FATHOM_DISTRIBUTION_OBSERVATION_H_
#define FATHOM_DISTRIBUTION_OBSERVATION_H_

#include <functional>
#include <memory>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

class Observation {
 public:
  virtual ~Observation() = default;

  virtual Index targets() const = 0;
  virtual bool discrete() const = 0;  // see lattice()
  // Where y is discrete: it is origin, origin + step, origin + 2 step, ...
  struct Lattice {
    double origin = 0, step = 1;
  };
  virtual Lattice lattice() const { return {}; }
  // Where y is not discrete: the values that have a probability of their own.
  virtual std::vector<double> jumps() const { return {}; }
  // Where y, given the functions N(m, v) of a row, has its humps, if these are several.
  struct Hump {
    double middle = 0, width = 0;
  };
  virtual std::vector<Hump> Humps(const double* /*m*/, const double* /*v*/) const { return {}; }
  // Whether y is an increasing function of the one function f, and which; its quantiles are then
  // the values at those of f.
  virtual bool increasing() const { return false; }
  virtual double At(double f) const { return f; }
  // The moments of y [N, targets] from those of f [N, functions].
  virtual Moments Observe(Moments f) const = 0;
  // Both are about one row, whose functions are N(m, v). LogDensity returns the log density (or
  // probability) of all its targets jointly, but for those that are NaN; Tail returns P(y_t <= y),
  // or P(y_t > y) if `upper`.
  virtual double LogDensity(const double* y, const double* m, const double* v) const = 0;
  virtual double Tail(Index target, double y, const double* m, const double* v,
                      bool upper) const = 0;
};

// shift + scale y, for each target.
std::shared_ptr<const Observation> Rescaled(std::shared_ptr<const Observation> observation,
                                            Vector shift, Vector scale);

// One distribution, given by its tail: P(y <= t), or P(y > t) if `upper`. mean and sd say roughly
// where it lies.
struct TailFunction {
  std::function<double(double t, bool upper)> tail;
  bool discrete = false;  // whole numbers from 0 on
  double mean = 0, sd = 0;
  std::vector<double> jumps = {};  // where it is not discrete
  std::vector<Observation::Hump> humps = {};

  double Quantile(double probability) const;  // to 1e-11 of the spread
  double Crps(double y) const;  // continuous ranked probability score of y, to about 1e-8

 private:
  // How long a panel from here on may be: the nearer to a hump, the shorter.
  double LongestPanel(double from) const;
};

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTION_OBSERVATION_H_
