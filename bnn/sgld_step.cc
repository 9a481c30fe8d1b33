#include "bnn/sgld_step.h"

#include <algorithm>
#include <cmath>

namespace fathom::bnn {

double Softplus(double kappa) {
  return std::max(kappa, 0.0) + std::log1p(std::exp(-std::abs(kappa)));
}

double InverseSoftplus(double noise_variance) {
  return noise_variance + std::log(-std::expm1(-noise_variance));
}

double Sigmoid(double kappa) { return 1 / (1 + std::exp(-kappa)); }

double NoiseVariance(double kappa) { return std::max(Softplus(kappa), kLeastNoise); }

double SgldDrift(const MlpShape& shape, const SgldPoint& point, const Rows& batch,
                 const SgldPosterior& posterior, MlpTape* tape, SgldPoint* drift) {
  const SgldPrior& prior = posterior.prior;
  const double s2 = NoiseVariance(point.kappa);
  const double scale = static_cast<double>(posterior.rows) / static_cast<double>(batch.size());
  drift->weights.setZero(point.weights.size());
  const double squares = SumSquaredResiduals({shape, point.weights}, batch, tape, &drift->weights);
  drift->weights =
      scale / s2 * drift->weights - point.weights.cwiseQuotient(prior.weight_variances);
  drift->kappa =
      scale * 0.5 * (squares / s2 - static_cast<double>(batch.size())) / s2 * Sigmoid(point.kappa) -
      (point.kappa - prior.kappa_mean) / prior.kappa_variance;
  return squares;
}

void SgldStep(const SgldStepSizes& steps, const SgldPoint& preconditioner, const SgldPoint& drift,
              const SgldPoint& noise, SgldPoint* point) {
  const auto G = preconditioner.weights.array();
  point->weights.array() += 0.5 * steps.weights * G * drift.weights.array() +
                            (steps.weights * G).sqrt() * noise.weights.array();
  point->kappa += 0.5 * steps.kappa * preconditioner.kappa * drift.kappa +
                  std::sqrt(steps.kappa * preconditioner.kappa) * noise.kappa;
}

SgldPoint InverseCurvature(const Vector& fisher, double kappa, const SgldPosterior& posterior) {
  const SgldPrior& prior = posterior.prior;
  const double slope = Sigmoid(kappa) / NoiseVariance(kappa);
  return {
      (prior.weight_variances.cwiseInverse() + fisher).cwiseInverse(),
      1 / (0.5 * static_cast<double>(posterior.rows) * slope * slope + 1 / prior.kappa_variance)};
}

}  // namespace fathom::bnn
