// Robust regression: y_d = f_d + noise from Student's t with a squared scale s2_d and nu_d degrees
// of freedom, both learnt. nu > 2, so that y has a variance; the parameter is nu - 2.
//   l(f) = log Gamma((nu + 1)/2) - log Gamma(nu/2) - 1/2 log(pi nu s2)         [student-t-log-z]
//          - (nu + 1)/2 log(1 + (y - f)^2 / (nu s2))
// E[p^alpha] and E[l] by quadrature. The product with the Gaussian of f may have two modes; both
// lie between m and y, and no farther from m than the steepest l can push. Accuracy of log Z and
// its slopes: 1e-11, absolute where small and relative where large, for v / s2 <= 1e8 and
// nu <= 1e6. Cost 2 to 10 us.
#ifndef FATHOM_LIKELIHOOD_STUDENT_T_H_
#define FATHOM_LIKELIHOOD_STUDENT_T_H_

#include "fathom/likelihood/likelihood.h"

namespace fathom {

class StudentT : public Likelihood {
 public:
  std::string Name() const override { return "student_t"; }
  // The squared scales of all outputs, then their nu - 2.
  Index NumParameters(Index outputs) const override { return 2 * outputs; }
  std::vector<std::string> ParameterNames() const override {
    return {"squared_scale", "degrees_of_freedom_above_2"};
  }
  // Four degrees of freedom, and the scale that gives y the variance `noise`.
  Vector InitialParameters(Index outputs, double noise) const override;
  double LogZ(const LogZRow& row, const LogZSlopes& slopes) const override;
  // Var[y] = v + s2 nu / (nu - 2).
  void Observe(const Vector& parameters, Moments* moments) const override;
  bool ObservesGaussian() const override { return false; }
  // P(y <= t) = E[Phi((t - m) / sqrt(v + s2 / tau))], tau ~ Gamma(nu/2, nu/2).     [student-t-cdf]
  double Tail(const Vector& parameters, Index target, double y, const double* m, const double* v,
              bool upper) const override;
};

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_STUDENT_T_H_
