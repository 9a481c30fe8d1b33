// Regression whose noise depends on the inputs: of 2T outputs, the first T are the functions f_t
// and the others, g_t, the logarithms of their noise relative to a learnt level sigma2_t:
//   y_t = f_t + N(0, sigma2_t exp(g_t)).
// Given g the expectation over f is that of the Gaussian likelihood, so that one integral is left:
//   log Z = sum_t log E_g[exp(A_t(g))],                                   [heteroscedastic-log-z]
//   A(g) = log N(y; m_f, T) + 1/2 (1 - alpha) log(2 pi n) - 1/2 log alpha,
//   n = sigma2 e^g,   T = v_f + n / alpha
// by quadrature, and for alpha = 0 in closed form
//   -1/2 (log(2 pi sigma2) + m_g + ((y - m_f)^2 + v_f) exp(v_g/2 - m_g) / sigma2).
// Accuracy of log Z and its slopes: 1e-11, absolute where small and relative where large, for
// v_g <= 100. Cost 3 to 10 us.
#ifndef FATHOM_LIKELIHOOD_HETEROSCEDASTIC_H_
#define FATHOM_LIKELIHOOD_HETEROSCEDASTIC_H_

#include "fathom/likelihood/likelihood.h"

namespace fathom {

class Heteroscedastic : public Likelihood {
 public:
  std::string Name() const override { return "heteroscedastic"; }
  Index NumParameters(Index outputs) const override { return outputs / 2; }
  std::vector<std::string> ParameterNames() const override { return {"noise_level"}; }
  Vector InitialParameters(Index outputs, double noise) const override {
    return Vector::Constant(outputs / 2, noise);
  }
  Index NumTargets(Index outputs) const override { return outputs / 2; }
  Index NumOutputs(Index targets, Index /*classes*/) const override { return 2 * targets; }
  double LogZ(const LogZRow& row, const LogZSlopes& slopes) const override;
  // Var[y] = v_f + sigma2 exp(m_g + v_g/2).
  void Observe(const Vector& parameters, Moments* moments) const override;
  bool ObservesGaussian() const override { return false; }
  // P(y <= t) = E_g[Phi((t - m_f) / sqrt(v_f + sigma2 e^g))].                [heteroscedastic-cdf]
  double Tail(const Vector& parameters, Index target, double y, const double* m, const double* v,
              bool upper) const override;
};

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_HETEROSCEDASTIC_H_
