// y_d = f_d + N(0, sigma2_d), with a noise variance per output.
//   log Z = sum_d log N(y_d; m_d, v_d + sigma2_d / alpha)                         [gaussian-log-z]
//                 + 1/2 (1 - alpha) log(2 pi sigma2_d) - 1/2 log alpha
// and for alpha = 0
//   E[log p] = sum_d log N(y_d; m_d, sigma2_d) - v_d / (2 sigma2_d).
#ifndef FATHOM_LIKELIHOOD_GAUSSIAN_H_
#define FATHOM_LIKELIHOOD_GAUSSIAN_H_

#include "fathom/likelihood/likelihood.h"

namespace fathom {

class Gaussian : public Likelihood {
 public:
  std::string Name() const override { return "gaussian"; }
  Index NumParameters(Index outputs) const override { return outputs; }
  std::vector<std::string> ParameterNames() const override { return {"noise_variance"}; }
  Vector InitialParameters(Index outputs, double noise) const override {
    return Vector::Constant(outputs, noise);
  }
  bool AddsGaussianNoise() const override { return true; }
  double LogZ(const LogZRow& row, const LogZSlopes& slopes) const override;
  // log N(y; m, Cov + diag(sigma2) / alpha) and the same further terms.       [gaussian-log-z-full]
  double LogZFull(const LogZFullRow& row, const LogZFullSlopes& slopes) const override;
  void Observe(const Vector& parameters, Moments* moments) const override;
};

}  // namespace fathom

#endif  // FATHOM_LIKELIHOOD_GAUSSIAN_H_
