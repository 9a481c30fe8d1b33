#include "bnn/dropout_loss.h"

namespace fathom::bnn {

double WeightDecay(const DropoutPrior& prior, Index rows) {
  return prior.lengthscale * prior.lengthscale * (1 - prior.rate) /
         (2 * static_cast<double>(rows) * prior.precision);
}

void DrawFactors(const MlpShape& shape, double rate, Index rows, NoiseStream* stream,
                 InputFactors* factors) {
  factors->resize(static_cast<std::size_t>(shape.num_layers()));
  const double kept = 1 / (1 - rate);
  for (Index l = 0; l < shape.num_layers(); ++l) {
    Matrix& of_layer = (*factors)[l];
    of_layer.resize(rows, shape.fan_in(l));
    stream->Masks(rate, kept, {of_layer.data(), static_cast<std::size_t>(of_layer.size())});
  }
}

double DropoutLoss(const Mlp& mlp, const Rows& batch, const InputFactors& factors, double decay,
                   MlpTape* tape, Vector* gradient) {
  const MlpShape& shape = mlp.shape;
  const auto rows = static_cast<double>(batch.size());
  if (gradient != nullptr) gradient->setZero(mlp.weights.size());
  double loss = SumSquaredResiduals(mlp, batch, tape, gradient, &factors) / rows;
  if (gradient != nullptr) *gradient *= -2 / rows;
  for (Index l = 0; l < shape.num_layers(); ++l) {
    const auto W = mlp.Layer(l).leftCols(shape.fan_in(l));
    loss += decay * W.squaredNorm();
    if (gradient != nullptr) shape.Layer(gradient, l).leftCols(shape.fan_in(l)) += 2 * decay * W;
  }
  return loss;
}

}  // namespace fathom::bnn
