// Fits a mean-field posterior by Adam on the evidence bound.
#ifndef FATHOM_BNN_VI_H_
#define FATHOM_BNN_VI_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bnn/mean_field.h"
#include "bnn/training_rows.h"
#include "bnn/watch.h"

namespace fathom::bnn {

enum class ViForm { kLocal, kWeight, kGraves };

struct ViOptions {
  ViForm form = ViForm::kLocal;
  Index steps = 10000;
  Index batch_size = 128;
  Index samples = 2;  // per row and step; Graves has one
  double kl_weight = 1;
  double prior_variance = 1;
  bool optimal_prior = false;  // Graves: the prior follows the posterior
  Curvature curvature = Curvature::kSquaredGradients;
  double noise_variance = 0;  // fixed, in standardised units; 0: learnt
};

// Whether the loss per row still changed while the learning rate was constant: from one twentieth
// of the steps to the next, just before the rate begins to fall. What comes after says nothing: the
// falling rate lowers the loss by the noise of the steps, however long the fit is.
struct LossTrend {
  double change = 0;
  double error = 0;  // standard error of the change; NaN, as is the change, if there is none

  // It does not fall any more, but for chance and a hundredth of a nat.
  bool Settled() const { return change >= -std::max(0.01, 2 * error); }
};

// Of the losses of a whole fit.                                                       [vi-settled]
LossTrend TrendOf(const Vector& losses);

struct ViResult {
  MeanField q;
  NormalPrior prior;
  Index steps = 0;          // that were done
  double loss_per_row = 0;  // mean of the last tenth of the steps
  LossTrend trend = {};
};

// 10,000 steps for one hidden layer and 30,000 for more, but at least 40 passes over the rows.
Index DefaultViSteps(const MlpShape& shape, Index rows, Index batch_size);

// Throws NumericalError if the loss is not finite.
ViResult FitVi(const MlpShape& shape, const Rows& rows, const ViOptions& options,
               std::uint64_t seed, Watch* watch);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_VI_H_
