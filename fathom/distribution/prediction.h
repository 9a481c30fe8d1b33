// The predictive distribution of N rows and D outputs: a mixture of Gaussians whose outputs are
// independent given the component, or of what is observed of Gaussian functions. One component is
// the moment-matched prediction; more come from sampling.
#ifndef FATHOM_DISTRIBUTION_PREDICTION_H_
#define FATHOM_DISTRIBUTION_PREDICTION_H_

#include <memory>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"
#include "fathom/distribution/observation.h"

namespace fathom FATHOM_PUBLIC {

struct Prediction {
  std::vector<Moments> components;  // S of them, each [N, D]; of the functions if:
  Vector weights;                   // [S], positive, summing to 1
  // [S]: how y follows from the functions of each component; empty: they are y itself.
  std::vector<std::shared_ptr<const Observation>> observations = {};
  // [S], or empty: the components are one Gaussian at several widths, component s with scales[s]
  // times its standard deviation, but for rows where a floor is above some of them. The quantiles
  // of all other rows are then the same number of standard deviations away.
  Vector scales = {};

  static Prediction Gaussian(Moments moments);

  Index rows() const { return components.front().rows(); }
  Index outputs() const {
    return observed() ? observations.front()->targets() : components.front().cols();
  }
  bool observed() const { return !observations.empty(); }
  bool discrete() const { return observed() && observations.front()->discrete(); }
  Index size() const { return static_cast<Index>(components.size()); }

  Moments Component(Index s) const;  // moments of y [N, D] given the component
  Moments MixtureMoments() const;    // of y [N, D]
  // Either of them alone. To observe a component may cost a lot: who needs both asks for both.
  Matrix Mean() const;
  Matrix Variance() const { return MixtureMoments().var; }

  // Both are about output d of row n; probability is in (0, 1). A component of variance 0 is a
  // point mass: Cdf jumps there and Quantile returns the place of the jump. Quantile is exact to
  // rounding for one Gaussian; for a mixture its error is at most 1e-11 of the narrowest
  // component's standard deviation (plus rounding), for observations 1e-11 of their own. For whole
  // numbers, and other steps, it returns the first one at which the cdf reaches the probability.
  double Cdf(Index n, Index d, double y) const;
  double Quantile(Index n, Index d, double probability) const;
  // Continuous ranked probability score, of a mixture in closed form (Grimit et al. 2006), O(S^2),
  // or, where that is cheaper, by quadrature to 1e-12 of its spread, O(S); of observations by
  // quadrature to about 1e-8.
  double Crps(Index n, Index d, double y) const;
  // Joint log density of a whole row y [D], never the mean of logs:
  //   log sum_s w_s prod_d N(y_d; m_sd, v_sd),
  // or the log probability of whole numbers; of other steps, over the step. A y_d that is NaN is
  // not known, and left out of the product; NaN if none is known.
  double LogDensity(Index n, const Eigen::Ref<const Eigen::RowVectorXd>& y) const;

 private:
  friend class RowQuantile;
  // The quantile of Gaussians with the scales as standard deviations.
  double UnitQuantile(double probability) const;
  // Whether y is an increasing function of the one function, in all components the same.
  bool IncreasingInFunction() const;
  double GaussianQuantile(Index n, Index d, double probability) const;
  // The standard deviation that the scales multiply; 0 if the row is none of that kind.
  double CommonSd(Index n, Index d) const;
  double Tail(Index n, Index d, double y, bool upper) const;
  // Counted in steps of the observation's lattice.
  TailFunction ObservedTail(Index n, Index d) const;
};

// The quantiles of many rows at one probability, as Prediction::Quantile has them; what the rows
// have in common is found once. The prediction must outlive it.
class RowQuantile {
 public:
  RowQuantile(const Prediction& prediction, double probability);
  double operator()(Index n, Index d) const;

 private:
  const Prediction& prediction_;
  double probability_;
  bool of_function_;  // as the value at the quantile of the one function
  double unit_ = 0;
};
std::vector<RowQuantile> RowQuantiles(const Prediction& prediction,
                                      const std::vector<double>& probabilities);

// log N(x; mean, var). Variance 0 is a point mass: +infinity at the mean, -infinity elsewhere.
double LogNormalPdf(double x, double mean, double var);
// Standard normal cdf, with relative accuracy in the lower tail too.
double NormalCdf(double x);
// Inverse of NormalCdf to a relative accuracy of 1e-14; probability in (0, 1).
double NormalQuantile(double probability);

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTION_PREDICTION_H_
