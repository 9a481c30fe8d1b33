// The predictive distribution of N rows and D outputs: a mixture of Gaussians whose outputs are
// independent given the component. One component is the moment-matched prediction; more come from
// sampling.
#ifndef FATHOM_BASE_PREDICTION_H_
#define FATHOM_BASE_PREDICTION_H_

#include <vector>

#include "fathom/base/types.h"

namespace fathom {

struct Prediction {
  std::vector<Moments> components;  // S of them, each [N, D]
  Vector weights;                   // [S], positive, summing to 1

  static Prediction Gaussian(Moments moments);

  Index rows() const { return components.front().rows(); }
  Index outputs() const { return components.front().cols(); }
  Index size() const { return static_cast<Index>(components.size()); }

  Matrix Mean() const;      // [N, D]
  Matrix Variance() const;  // [N, D], of the mixture

  // Of output d of row n; probability in (0, 1). A component of variance 0 is a point mass: Cdf
  // jumps there and Quantile returns the place of the jump. Quantile is exact to rounding for one
  // Gaussian; for a mixture its error is at most 1e-11 of the narrowest component's standard
  // deviation (plus rounding).
  double Cdf(Index n, Index d, double y) const;
  double Quantile(Index n, Index d, double probability) const;
  // Continuous ranked probability score, in closed form (Grimit et al. 2006 for mixtures).  O(S^2).
  double Crps(Index n, Index d, double y) const;
  // Joint log density of a whole row y [D], never the mean of logs:
  //   log sum_s w_s prod_d N(y_d; m_sd, v_sd).
  double LogDensity(Index n, const Eigen::Ref<const Eigen::RowVectorXd>& y) const;
};

// log N(x; mean, var). Variance 0 is a point mass: +infinity at the mean, -infinity elsewhere.
double LogNormalPdf(double x, double mean, double var);
// Standard normal cdf, with relative accuracy in the lower tail too.
double NormalCdf(double x);
// Inverse of NormalCdf to a relative accuracy of 1e-14; probability in (0, 1).
double NormalQuantile(double probability);

}  // namespace fathom

#endif  // FATHOM_BASE_PREDICTION_H_
