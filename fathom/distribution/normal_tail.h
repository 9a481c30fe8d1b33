// The logarithm of the standard normal cdf and its derivatives, good far in the lower tail.
#ifndef FATHOM_DISTRIBUTION_NORMAL_TAIL_H_
#define FATHOM_DISTRIBUTION_NORMAL_TAIL_H_

namespace fathom {

// log Phi(x), its slope h = phi(x) / Phi(x) and its curvature h' = -h (x + h), in [-1, 0]. Relative
// accuracy 1e-13 of value and slope, 1e-11 of the curvature, for every x (tested to -1e8).
struct LogNormalCdf {
  double value, slope, curvature;

  explicit LogNormalCdf(double x);
};

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTION_NORMAL_TAIL_H_
