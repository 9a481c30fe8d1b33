// K outputs, y a label 0..K-1: p(y = c | f) is 1 - epsilon if f_c is the largest, else
// epsilon / (K - 1). With P_c the probability that f_c is the largest,
//   P_c = int N(t; m_c, v_c) prod_{j != c} Phi((t - m_j) / sqrt(v_j)) dt             [robust-max-p]
//   Z = (1 - epsilon)^alpha P_c + (epsilon / (K - 1))^alpha (1 - P_c)            [robust-max-log-z]
// exactly, and for alpha = 0 the same with logarithms. P_c comes by quadrature on panels cut to the
// widths of all its factors, to 1e-12. Variances below 1e-16 count as 1e-16, where P_c is a step
// for every purpose but its slopes stay finite.
#ifndef FATHOM_LIKELIHOOD_ROBUST_MAX_H_
#define FATHOM_LIKELIHOOD_ROBUST_MAX_H_

#include "fathom/likelihood/likelihood.h"

namespace fathom {

class RobustMax : public Likelihood {
 public:
  // The chance of a label that the functions do not explain, a constant of this kind.
  static constexpr double kEpsilon = 1e-3;

  std::string Name() const override { return "robust_max"; }
  Index NumParameters(Index /*outputs*/) const override { return 0; }
  Vector InitialParameters(Index /*outputs*/, double /*noise*/) const override { return {}; }
  Index NumTargets(Index /*outputs*/) const override { return 1; }
  Index NumOutputs(Index /*targets*/, Index classes) const override { return classes; }
  bool TakesScaledTargets() const override { return false; }
  std::string TargetRule(Index outputs, double y) const override;
  double LogZ(const LogZRow& row, const LogZSlopes& slopes) const override;
  void Observe(const Vector& parameters, Moments* moments) const override;
  Index NumClasses(Index outputs) const override { return outputs; }
  Matrix ClassProbabilities(const Vector& parameters, const Moments& f) const override;

  // P_c and its slopes; d_m and d_v [outputs] may both be null.
  static double LargestProbability(Index c, Index outputs, const double* m, const double* v,
                                   double* d_m, double* d_v);
};

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_ROBUST_MAX_H_
