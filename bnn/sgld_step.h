// Stochastic gradient Langevin dynamics (Welling and Teh 2011) of the weights and of kappa, which
// says what the noise is: s2 = log(1 + exp(kappa)).
#ifndef FATHOM_BNN_SGLD_STEP_H_
#define FATHOM_BNN_SGLD_STEP_H_

#include "bnn/weight_posterior.h"

namespace fathom::bnn {

// A point of the chain, and also a gradient, a preconditioner, or noise for such a point.
struct SgldPoint {
  Vector weights;
  double kappa = 0;
};

double Softplus(double kappa);
double InverseSoftplus(double noise_variance);
double Sigmoid(double kappa);  // the slope of Softplus
inline constexpr double kLeastNoise = 1e-6;
// The noise variance that kappa stands for, at least kLeastNoise.
double NoiseVariance(double kappa);

struct SgldPrior {
  Vector weight_variances;  // [weights]
  double kappa_mean = 0;
  double kappa_variance = 9;  // of kappa itself, without a Jacobian
};

// What the chain samples, without the rows themselves.
struct SgldPosterior {
  SgldPrior prior;
  Index rows = 0;  // N, of which a batch is a part
};

// The gradient of the log posterior, estimated from a batch:
//   g_W = N/|B| sum (y - f)/s2 df/dW - W/tau2
//   g_k = N/|B| sum 1/2 ((y - f)^2/s2 - 1)/s2 sigmoid(kappa) - (kappa - mean)/variance [sgld-drift]
// Returns the batch's sum of squared residuals.
double SgldDrift(const MlpShape& shape, const SgldPoint& point, const Rows& batch,
                 const SgldPosterior& posterior, MlpTape* tape, SgldPoint* drift);

// The steps of the weights and of kappa.
struct SgldStepSizes {
  double weights, kappa;
};

// theta += 1/2 e G g + sqrt(e G) xi,  xi ~ N(0, 1)                                      [sgld-step]
void SgldStep(const SgldStepSizes& steps, const SgldPoint& preconditioner, const SgldPoint& drift,
              const SgldPoint& noise, SgldPoint* point);

// The inverse curvature of the log posterior:
//   G_i = 1/(1/tau2_i + Fisher_i),  G_kappa = 1/(N/2 (sigmoid(kappa)/s2)^2 + 1/variance)
SgldPoint InverseCurvature(const Vector& fisher, double kappa, const SgldPosterior& posterior);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_SGLD_STEP_H_
