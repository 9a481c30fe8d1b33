#include "fathom/model/initialize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/base/random.h"

namespace fathom {

namespace {

Matrix SampleRows(const InputsElsewhere& x, Index count, RandomStream* stream) {
  if (x.rows > count) return x.read(stream->Sample(x.rows, count));
  std::vector<Index> all(static_cast<std::size_t>(x.rows));
  std::iota(all.begin(), all.end(), Index{0});
  return x.read(all);
}

double MedianDistance(const Matrix& x, RandomStream* stream) {
  std::vector<double> distances;
  for (int i = 0; i < 2000; ++i) {
    const double distance =
        (x.row(stream->Below(x.rows())) - x.row(stream->Below(x.rows()))).norm();
    if (distance > 0) distances.push_back(distance);
  }
  if (distances.empty()) return 1;
  std::nth_element(distances.begin(), distances.begin() + distances.size() / 2, distances.end());
  return distances[distances.size() / 2];
}

// Whitened mean of a GP whose function comes close to `target` at the rows of x: ridge regression
// on K_xu L^-T.
Vector RidgeMean(const SparseGp& gp, const Matrix& x, const Vector& target, double ridge) {
  Matrix K;
  gp.kernel->Gram(gp.theta, gp.Z, &K);
  Matrix L_inverse = K;
  AddJitter(kJitter, &L_inverse);
  for (double jitter = 10 * kJitter; !CholeskyInPlace(&L_inverse); jitter *= 10) {
    if (jitter > 1) throw NumericalError("the kernel matrix of the start is not finite");
    L_inverse = K;
    AddJitter(jitter, &L_inverse);
  }
  InvertLowerInPlace(&L_inverse);
  Matrix cross(x.rows(), gp.num_inducing());
  gp.kernel->Cross(gp.theta, x, gp.Z, cross);
  const Matrix A = Product({cross}, Transposed(L_inverse));
  Matrix normal = Product(Transposed(A), {A});
  normal.diagonal().array() += ridge;
  return SolvePositiveDefinite(normal, A.transpose() * target);
}

Posterior MakePosterior(bool site_form, Index M, const Vector& mean, double var,
                        RandomStream* stream) {
  // Small random factors, as in the paper.
  if (site_form) return Sites{0.1 * stream->NormalMatrix(M, 1), 0.1 * Matrix::Identity(M, M)};
  return Whitened{mean, std::sqrt(var) * Matrix::Identity(M, M)};
}

// Points start as normal draws of equal weight, in pairs of opposite sign: their mean is zero.
void StartPaths(const Architecture& architecture, std::uint64_t seed, DeepGp* model) {
  if (architecture.hidden.empty()) return;  // nothing between two layers
  model->propagation = architecture.propagation;
  if (architecture.propagation == Propagation::kSamples) model->samples = architecture.paths;
  if (architecture.propagation == Propagation::kPoints) {
    RandomStream stream(seed, 4);
    model->points = stream.NormalMatrix(architecture.paths, model->num_hidden_units());
    for (Index s = 1; s < architecture.paths; s += 2)
      model->points.row(s) = -model->points.row(s - 1);
    model->point_weights =
        Vector::Constant(architecture.paths, 1.0 / static_cast<double>(architecture.paths));
  }
}

void CheckArchitecture(const Architecture& architecture) {
  Require(!architecture.inducing.empty(), "inducing", "a list of numbers", "empty");
  for (const Index width : architecture.hidden)
    Require(width >= 1, "hidden width", "at least 1", width);
  for (const Index M : architecture.inducing) Require(M >= 1, "inducing points", "at least 1", M);
  Require(architecture.paths >= 1, "paths", "at least 1", architecture.paths);
}

// What a layer starts from.
struct LayerStart {
  Index number = 0;
  bool last = false;
  Index M = 0;  // pseudo-points
  std::uint64_t seed = 0;
  Matrix input;         // what it sees on the sampled rows, skip links included
  Matrix targets;       // [rows, functions]: what its functions are to be; empty in the last layer
  Vector lengthscales;  // [inputs]; empty: as the options say
};

// Pseudo-inputs and kernel parameters of a layer's function number d.
void StartKernel(const InitializeOptions& options, const LayerStart& at, Index d,
                 RandomStream* stream, SparseGp* gp) {
  const Index D = at.input.cols();
  const bool paper = options.start == Start::kPaper;
  const double reach = std::sqrt(static_cast<double>(D));
  if (paper && at.number > 0) {
    gp->Z.resize(at.M, D);
    for (Index i = 0; i < gp->Z.size(); ++i) gp->Z.data()[i] = 2 * stream->Uniform() - 1;
    gp->theta = gp->kernel->InitialParameters(D, 2 * reach);
    return;
  }
  const std::uint64_t seed = at.seed + static_cast<std::uint64_t>(d);
  if (at.lengthscales.size() > 0) {
    const Matrix scaled = at.input * at.lengthscales.cwiseInverse().asDiagonal();
    gp->Z = KMeans(scaled, at.M, 10, seed) * at.lengthscales.asDiagonal();
    gp->theta = gp->kernel->InitialParameters(D, reach);
    gp->SetLengthscales(at.lengthscales);
    return;
  }
  gp->Z = KMeans(at.input, at.M, 10, seed);
  gp->theta = gp->kernel->InitialParameters(
      D, paper ? MedianDistance(at.input, stream)
               : reach * (at.number == 0 ? options.lengthscale : options.upper_lengthscale));
}

// The principal directions of what lies below, in the metric of the layer's lengthscales.
Matrix LoadingsOf(const LayerStart& at, const Matrix& below, Index width, std::uint64_t seed) {
  if (at.lengthscales.size() == 0) return PrincipalLoadings(below, width, seed);
  const auto weights = at.lengthscales.cwiseInverse().asDiagonal();
  return weights * PrincipalLoadings(below * weights, width, seed);
}

std::vector<SparseGp> StartFunctions(const Architecture& architecture,
                                     const InitializeOptions& options, const LayerStart& at,
                                     Index width, RandomStream* stream) {
  const std::shared_ptr<const Kernel> kernel = MakeKernel(architecture.kernel);
  std::vector<SparseGp> gps;
  for (Index d = 0; d < width; ++d) {
    SparseGp gp;
    gp.kernel = kernel;
    if (architecture.shared && d > 0) {
      gp.Z = gps[0].Z;
      gp.theta = gps[0].theta;
    } else {
      StartKernel(options, at, d, stream, &gp);
    }
    Vector mean = Vector::Zero(at.M);
    if (!at.last && !architecture.linear_mean && !architecture.site_form)
      mean = RidgeMean(gp, at.input, at.targets.col(d), 1e-2);
    gp.posterior = MakePosterior(architecture.site_form, at.M, mean,
                                 at.last ? 1 : options.hidden_posterior_var, stream);
    gps.push_back(std::move(gp));
  }
  return gps;
}

}  // namespace

DeepGp Initialize(const Architecture& architecture, const InitializeOptions& options,
                  std::uint64_t seed, const Matrix& x, Index outputs, const Vector& lengthscales) {
  const auto read = [&](const std::vector<Index>& rows) -> Matrix { return x(rows, Eigen::all); };
  return Initialize(architecture, options, seed, {x.rows(), x.cols(), read}, outputs, lengthscales);
}

DeepGp Initialize(const Architecture& architecture, const InitializeOptions& options,
                  std::uint64_t seed, const InputsElsewhere& x, Index outputs,
                  const Vector& lengthscales) {
  CheckArchitecture(architecture);
  FATHOM_CHECK(x.rows > 0 && x.cols > 0 && outputs > 0);
  FATHOM_CHECK(lengthscales.size() == 0 || lengthscales.size() == x.cols);
  RandomStream stream(seed, 1);
  const Matrix raw = SampleRows(x, options.sample_rows, &stream);

  DeepGp model;
  model.full_covariance = architecture.full_covariance;
  model.likelihood = MakeLikelihood(architecture.likelihood);
  model.likelihood_parameters = model.likelihood->InitialParameters(outputs, options.output_noise);
  Matrix below = raw;  // what the layer sees at the start, on the sampled rows
  for (std::size_t l = 0; l <= architecture.hidden.size(); ++l) {
    LayerStart at;
    at.number = static_cast<Index>(l);
    at.last = l == architecture.hidden.size();
    at.seed = seed + 1000 * l;
    at.M = std::min(architecture.inducing[std::min(l, architecture.inducing.size() - 1)], x.rows);
    at.input = below;
    if (l == 0) at.lengthscales = lengthscales;
    GpLayer layer;
    layer.skip = architecture.skip_links && l > 0;
    layer.shared = architecture.shared;
    if (layer.skip) {
      at.input.resize(below.rows(), below.cols() + raw.cols());
      at.input << below, raw;
    }
    const Index width = at.last ? outputs : architecture.hidden[l];
    if (!at.last) {
      // The hidden units start at the principal scores of what lies below, so that an upper layer
      // starts as the identity (or its truncation).
      const Matrix loadings = LoadingsOf(at, below, width, seed + l);
      at.targets = Product({below}, {loadings});
      layer.noise_variance = Vector::Constant(width, options.hidden_noise);
      if (architecture.linear_mean) {
        layer.mean_weights = Matrix::Zero(at.input.cols(), width);
        layer.mean_weights.topRows(below.cols()) = loadings;
      }
      below = at.targets;
    }
    layer.gps = StartFunctions(architecture, options, at, width, &stream);
    model.layers.push_back(std::move(layer));
  }
  StartPaths(architecture, seed, &model);
  return model;
}

Matrix KMeans(const Matrix& x, Index k, Index iterations, std::uint64_t seed) {
  FATHOM_CHECK(x.rows() > 0 && k > 0);
  RandomStream stream(seed, 2);
  const Index N = x.rows();
  Matrix centres(k, x.cols());
  centres.row(0) = x.row(stream.Below(N));
  Vector distance = Vector::Constant(N, std::numeric_limits<double>::infinity());
  for (Index c = 1; c < k; ++c) {
    for (Index n = 0; n < N; ++n) {
      distance[n] = std::min(distance[n], (x.row(n) - centres.row(c - 1)).squaredNorm());
    }
    const double total = distance.sum();
    if (total <= 0) {
      // No distinct row is left: repeat one with a small shift, so that no two pseudo-inputs
      // coincide.
      centres.row(c) = x.row(stream.Below(N)) + 0.1 * stream.NormalMatrix(1, x.cols());
      continue;
    }
    double draw = stream.Uniform() * total;
    Index chosen = 0;
    while (chosen + 1 < N && (draw -= distance[chosen]) > 0) ++chosen;
    centres.row(c) = x.row(chosen);
  }
  Matrix sums(k, x.cols());
  std::vector<Index> counts(static_cast<std::size_t>(k));
  for (Index iteration = 0; iteration < iterations; ++iteration) {
    // |x - c|^2 up to a constant of the row, by one matrix product.
    Matrix score = Product({x}, Transposed(centres));
    const Eigen::RowVectorXd half_norm = 0.5 * centres.rowwise().squaredNorm().transpose();
    score.rowwise() -= half_norm;
    sums.setZero();
    std::fill(counts.begin(), counts.end(), Index{0});
    for (Index n = 0; n < N; ++n) {
      Index best = 0;
      score.row(n).maxCoeff(&best);
      sums.row(best) += x.row(n);
      ++counts[best];
    }
    for (Index c = 0; c < k; ++c) {
      if (counts[c] > 0) centres.row(c) = sums.row(c) / static_cast<double>(counts[c]);
    }
  }
  return centres;
}

Matrix PrincipalLoadings(const Matrix& x, Index count, std::uint64_t seed) {
  const Index D = x.cols();
  const auto N = static_cast<double>(x.rows());
  const Matrix centred = x.rowwise() - x.colwise().mean();
  // X'X and XX' have the same eigenvalues but for zeros; with 10,000 columns only XX' is small.
  const bool wide = D > x.rows();
  const Factor rows{centred};
  const Factor columns = Transposed(centred);
  const Matrix product = (wide ? Product(rows, columns) : Product(columns, rows)) / N;
  const Eigensystem system = SymmetricEigensystem(product);
  const Index last = product.rows() - 1;
  const auto principal = [&](Index c) -> Vector {
    Vector eigenvector = system.vectors.col(last - c);
    if (wide) return (centred.transpose() * eigenvector).normalized();
    return eigenvector;
  };
  const auto variance_along = [&](const Vector& d) {
    return wide ? (centred * d).squaredNorm() / N : d.dot(product * d);
  };
  RandomStream stream(seed, 3);
  Matrix loadings(D, count);
  const double tiny = 1e-10 * std::max(system.values.maxCoeff(), 1e-300);
  for (Index c = 0; c < count; ++c) {
    const bool there = c <= last && system.values[last - c] > tiny;
    Vector direction = there ? principal(c) : Vector(stream.NormalMatrix(D, 1));
    // The sign is arbitrary; fix it, so that the start does not depend on the solver's taste.
    Index largest = 0;
    direction.cwiseAbs().maxCoeff(&largest);
    if (direction[largest] < 0) direction = -direction;
    const double variance = variance_along(direction);
    loadings.col(c) = variance > tiny ? Vector(direction / std::sqrt(variance)) : direction;
  }
  return loadings;
}

}  // namespace fathom
