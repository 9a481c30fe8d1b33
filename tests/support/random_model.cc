#include "tests/support/random_model.h"

#include <cmath>
#include <numeric>

namespace fathom {

Vector RandomVector(Index size, RandomStream* stream) { return stream->NormalMatrix(size, 1); }

Vector RandomPositive(Index size, double centre, RandomStream* stream) {
  return centre * (0.3 * stream->NormalMatrix(size, 1).array()).exp();
}

Matrix RandomLower(Index M, double diagonal, RandomStream* stream) {
  Matrix lower = 0.3 * stream->NormalMatrix(M, M);
  lower.diagonal() = RandomPositive(M, diagonal, stream);
  return lower.triangularView<Eigen::Lower>();
}

Matrix RandomSymmetric(Index M, RandomStream* stream) {
  const Matrix A = stream->NormalMatrix(M, M);
  return 0.5 * (A + A.transpose());
}

Sites RandomSites(Index M, RandomStream* stream) {
  return {RandomVector(M, stream), RandomLower(M, 0.8, stream)};
}

Whitened RandomWhitened(Index M, RandomStream* stream) {
  return {RandomVector(M, stream), RandomLower(M, 0.6, stream)};
}

SparseGp RandomGp(Index M, Index D, bool sites, RandomStream* stream) {
  SparseGp gp;
  gp.kernel = MakeKernel("se_ard");
  gp.theta = RandomPositive(1 + D, 1.2, stream);
  gp.Z = 1.5 * stream->NormalMatrix(M, D);
  if (sites) {
    gp.posterior = RandomSites(M, stream);
  } else {
    gp.posterior = RandomWhitened(M, stream);
  }
  return gp;
}

DeepGp RandomModel(const RandomModelOptions& options, RandomStream* stream) {
  DeepGp model;
  model.likelihood = MakeLikelihood("gaussian");
  model.likelihood_parameters = RandomPositive(options.outputs, 0.3, stream);
  Index below = options.inputs;
  for (std::size_t l = 0; l <= options.hidden.size(); ++l) {
    const bool last = l == options.hidden.size();
    const Index width = last ? options.outputs : options.hidden[l];
    GpLayer layer;
    layer.skip = options.skip && l > 0;
    layer.shared = options.shared;
    const Index D = below + (layer.skip ? options.inputs : 0);
    for (Index d = 0; d < width; ++d)
      layer.gps.push_back(RandomGp(options.M, D, options.sites, stream));
    if (!last) {
      layer.noise_variance = RandomPositive(width, 0.1, stream);
      if (options.linear_mean) layer.mean_weights = 0.5 * stream->NormalMatrix(D, width);
    }
    model.layers.push_back(std::move(layer));
    below = width;
  }
  SpreadShared(&model);
  constexpr Index kPaths = 3;
  model.propagation = options.propagation;
  if (options.propagation == Propagation::kSamples) model.samples = kPaths;
  if (options.propagation == Propagation::kPoints) {
    model.points = stream->NormalMatrix(kPaths, model.num_hidden_units());
    model.point_weights = RandomPositive(kPaths, 0.5, stream);
  }
  return model;
}

void AddInputVariance(RandomStream* stream, Moments* x) {
  for (Index n = 0; n < x->rows(); n += 2) {
    for (Index q = n % x->cols(); q < x->cols(); q += 3) x->var(n, q) = 0.2 + stream->Uniform();
  }
}

LabelledRows RandomRows(Index rows, Index inputs, Index outputs, bool uncertain,
                        RandomStream* stream) {
  LabelledRows table{Moments::Certain(stream->NormalMatrix(rows, inputs)),
                     stream->NormalMatrix(rows, outputs)};
  if (uncertain) AddInputVariance(stream, &table.x);
  return table;
}

std::vector<Index> AllRows(Index rows) {
  std::vector<Index> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace fathom
