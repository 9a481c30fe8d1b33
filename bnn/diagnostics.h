// Whether the draws of several chains can be trusted, and how long the steps of a sampler should
// be.
#ifndef FATHOM_BNN_DIAGNOSTICS_H_
#define FATHOM_BNN_DIAGNOSTICS_H_

#include "fathom/base/types.h"

namespace fathom::bnn {

// draws [chains, T], T >= 4. Every chain is cut into halves of n = floor(T/2) draws, the first and
// the last. With W the mean variance within halves and B/n the variance of their means,
//   R = sqrt(((n - 1)/n W + B/n) / W)                                                [split-rhat]
// 1 where all halves agree; NaN where nothing varies.
double SplitRhat(const Matrix& draws);

// The number of independent draws that would know the mean as well (Geyer's initial monotone
// sequence over the same halves); at most m n log10(m n).                   [effective-sample-size]
double EffectiveSampleSize(const Matrix& draws);

struct DualAveragingOptions {
  double target = 0.8;  // acceptance probability
  double gamma = 0.05;
  double t0 = 10;
  double kappa = 0.75;
};

// Step sizes that bring the mean acceptance to its target (Nesterov's dual averaging, as Hoffman
// and Gelman 2014 use it): with mu = log(10 initial step),
//   H <- (1 - 1/(t + t0)) H + (target - acceptance)/(t + t0)
//   log step = mu - sqrt(t)/gamma H
//   log averaged = t^-kappa log step + (1 - t^-kappa) log averaged             [dual-averaging]
class DualAveraging {
 public:
  explicit DualAveraging(double initial_step, const DualAveragingOptions& options = {});

  double step() const { return step_; }          // for the next trajectory of the adaptation
  double averaged() const { return averaged_; }  // for all after it
  void Update(double acceptance);

  // All that changes; see job.h.
  template <typename Visitor>
  void Visit(const Visitor& visit) {
    visit("adaptation.step", &step_);
    visit("adaptation.averaged", &averaged_);
    visit("adaptation.H", &H_);
    visit("adaptation.t", &t_);
  }

 private:
  DualAveragingOptions options_;
  double mu_, step_, averaged_;
  double H_ = 0, t_ = 0;
};

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_DIAGNOSTICS_H_
