// The loss of a network under dropout (Gal and Ghahramani 2016), whose weight decay stands for a
// prior of a given lengthscale and a noise precision tau.
#ifndef FATHOM_BNN_DROPOUT_LOSS_H_
#define FATHOM_BNN_DROPOUT_LOSS_H_

#include "bnn/weight_posterior.h"
#include "fathom/base/noise_stream.h"

namespace fathom::bnn {

struct DropoutPrior {
  double rate = 0.05;  // p: the share of units that are dropped
  double lengthscale = 0.01;
  double precision = 10;  // tau
};

// reg = l^2 (1 - p) / (2 N tau)                                                    [dropout-decay]
double WeightDecay(const DropoutPrior& prior, Index rows);

// Draws masks for the inputs of every layer of so many rows: 0 with probability p, else 1/(1 - p).
void DrawFactors(const MlpShape& shape, double rate, Index rows, NoiseStream* stream,
                 InputFactors* factors);

// mean_n (y_n - f_n)^2 + decay sum w^2, the sum over weights but not over biases.  [dropout-loss]
// *gradient, which may be null, becomes the loss's.
double DropoutLoss(const Mlp& mlp, const Rows& batch, const InputFactors& factors, double decay,
                   MlpTape* tape, Vector* gradient);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_DROPOUT_LOSS_H_
