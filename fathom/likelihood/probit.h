// y_d = +1 or -1 with p(y_d | f_d) = Phi(y_d f_d), independent outputs.
//   log Z = sum_d log Phi(y_d m_d / sqrt(1 + v_d))   for alpha = 1                  [probit-log-z]
// and by quadrature otherwise. There Phi^alpha times the Gaussian is log-concave, so the integral
// is taken around its mode, relative to its height. Accuracy of log Z, and of E[log Phi] for
// alpha = 0: 2e-12, absolute where small and relative where large, for |m| <= 1e4,
// v <= 1e8. Cost about a microsecond.
#ifndef FATHOM_LIKELIHOOD_PROBIT_H_
#define FATHOM_LIKELIHOOD_PROBIT_H_

#include "fathom/likelihood/likelihood.h"

namespace fathom {

class Probit : public Likelihood {
 public:
  std::string Name() const override { return "probit"; }
  Index NumParameters(Index /*outputs*/) const override { return 0; }
  Vector InitialParameters(Index /*outputs*/, double /*noise*/) const override { return {}; }
  std::string TargetRule(Index outputs, double y) const override;
  double LogZ(const LogZRow& row, const LogZSlopes& slopes) const override;
  void Observe(const Vector& parameters, Moments* moments) const override;
  bool TakesScaledTargets() const override { return false; }
  // Two classes, -1 and +1, of the one output.
  Index NumClasses(Index /*outputs*/) const override { return 2; }
  double ClassTarget(Index label) const override { return label == 0 ? -1 : 1; }
  Matrix ClassProbabilities(const Vector& parameters, const Moments& f) const override;
};

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_PROBIT_H_
