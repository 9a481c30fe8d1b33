// K outputs, y a label 0..K-1: p(y = c | f) = exp(f_c) / sum_j exp(f_j). E[p^alpha] has K
// dimensions and no closed form, but with S = sum_j exp(f_j) and
//   S^-alpha = 1 / Gamma(1 + alpha) int exp(-alpha t) d/dt exp(-S exp(-t)) dt
// the outputs separate: one integral over t of a product of K one-dimensional ones, for any K, in
// place of a grid or of random draws. Shifting the Gaussian of f_j by beta_j v_j,
// beta_j = alpha (1[j = c] - p_j), keeps all factors of ordinary size. It is exact for any p that
// sums to 1; p here is the softmax at the mode. With x = f_j - t, f_j ~ N(m_j + beta_j v_j, v_j),
//   M_j(t) = E exp(alpha p_j x - e^x),   M'_j(t) = E e^x exp(alpha p_j x - e^x),
//   Z = exp(sum_j beta_j m_j + beta_j^2 v_j / 2) / Gamma(1 + alpha)                 [softmax-log-z]
//       int sum_j M'_j prod_{i != j} M_i dt
// and for alpha = 0
//   E[log p] = m_c - int (exp(-exp(-t)) - prod_j E exp(-e^x)) dt.
// Accuracy of log Z and its slopes: 1e-11 for v <= 64, 1e-8 for v <= 1e8, as far as the
// sum of the probabilities shows. Cost O(K) in the classes, for K = 3 on a busy machine 0.5 to 1 ms
// at v = 1 and 1.5 to 3 ms at v = 20.
#ifndef FATHOM_LIKELIHOOD_SOFTMAX_H_
#define FATHOM_LIKELIHOOD_SOFTMAX_H_

#include "fathom/likelihood/likelihood.h"

namespace fathom {

class Softmax : public Likelihood {
 public:
  std::string Name() const override { return "softmax"; }
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
};

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_SOFTMAX_H_
