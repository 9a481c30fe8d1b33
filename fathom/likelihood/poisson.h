// Counts: y_d is Poisson with rate r_d exp(f_d), where r_d, a base rate per output, is learnt.
//   l(f) = y (f + log r) - r e^f - log y!
// For alpha = 0, E[l] = y (m + log r) - r exp(m + v/2) - log y!, else          [poisson-log-z]
// by quadrature: the integrand is log-concave, its mode an equation w + e^w = s, and its panels
// follow its width, which shrinks with the rate. Accuracy of log Z and its slopes: 1e-11, absolute
// where small and relative where large, for |m| <= 50, v <= 1e4 and counts up to 1e9. Cost 2 to
// 10 us.
#ifndef FATHOM_LIKELIHOOD_POISSON_H_
#define FATHOM_LIKELIHOOD_POISSON_H_

#include "fathom/likelihood/likelihood.h"

namespace fathom {

class Poisson : public Likelihood {
 public:
  std::string Name() const override { return "poisson"; }
  Index NumParameters(Index outputs) const override { return outputs; }
  std::vector<std::string> ParameterNames() const override { return {"base_rate"}; }
  Vector InitialParameters(Index outputs, double /*noise*/) const override {
    return Vector::Ones(outputs);
  }
  // The base rates start at the mean counts, so that f starts around 0.
  void StartFrom(const Matrix& y, Vector* parameters) const override;
  bool TakesScaledTargets() const override { return false; }
  std::string TargetRule(Index outputs, double y) const override;
  double LogZ(const LogZRow& row, const LogZSlopes& slopes) const override;
  // E[y] = r exp(m + v/2), Var[y] = E[y] + (e^v - 1) E[y]^2.
  void Observe(const Vector& parameters, Moments* moments) const override;
  bool ObservesGaussian() const override { return false; }
  bool IsDiscrete() const override { return true; }
  // y <= k if the wait G for event k + 1, at unit rate, is longer than r e^f:         [poisson-cdf]
  //   P(y <= k) = E[Phi((log(G / r) - m) / sqrt(v))],   G ~ Gamma(k + 1).
  double Tail(const Vector& parameters, Index target, double y, const double* m, const double* v,
              bool upper) const override;
};

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_POISSON_H_
