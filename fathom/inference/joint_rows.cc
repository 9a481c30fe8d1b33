#include "fathom/inference/joint_rows.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/base/random.h"

namespace fathom {

namespace {

// One joint Gaussian over the rows.
struct RowsGaussian {
  Vector mean;  // [N]
  Matrix cov;   // [N, N]
};

// The values of one function at rows that are certain: [joint-rows].
RowsGaussian FunctionAtRows(const GpLayer& layer, Index function, const Conditioned& gp,
                            const Matrix& x) {
  const SparseGp& prior = layer.gps[function];
  Matrix k(x.rows(), prior.num_inducing());
  prior.kernel->Cross(prior.theta, x, prior.Z, k);
  RowsGaussian f;
  f.mean = k * gp.a;
  if (layer.mean_weights.size() > 0) f.mean += x * layer.mean_weights.col(function);
  f.cov.resize(x.rows(), x.rows());
  prior.kernel->Cross(prior.theta, x, x, f.cov);
  f.cov -= Product({Product({k}, {gp.S})}, Transposed(k));
  SymmetrizeInPlace(&f.cov);
  // Rounding may leave less than nothing of a variance.
  f.cov.diagonal() = f.cov.diagonal().cwiseMax(0.0);
  return f;
}

// What a layer sees: the units below and, over skip links, the raw inputs.
Matrix InputsOf(const GpLayer& layer, const Matrix& below, const Matrix& raw) {
  if (!layer.skip) return below;
  Matrix both(below.rows(), below.cols() + raw.cols());
  both << below, raw;
  return both;
}

// L of L L' = the covariance. Rows may be copies of each other, or nearly.
Matrix FactorOf(const Matrix& cov) {
  constexpr double kMost = 1e-3;
  const double size = std::max(cov.diagonal().mean(), 1e-300);
  for (double jitter = 1e-10; jitter <= kMost; jitter *= 10) {
    Matrix L = cov;
    L.diagonal().array() += jitter * size;
    if (CholeskyInPlace(&L)) return L;
  }
  throw NumericalError("the covariance of the rows is not positive definite");
}

// The hidden units of a layer, made ready to be drawn many times where their inputs are always the
// same.
struct HiddenUnit {
  Vector mean;
  Matrix L;
};

class DrawnRows {
 public:
  DrawnRows(const DeepGp& model, const ConditionedModel& gps, const Moments& x, Index outputs)
      : model_(model), gps_(gps), x_(x), outputs_(outputs) {
    if ((x.var.array() > 0).any() || model.num_layers() == 1) return;
    const GpLayer& layer = model.layers.front();
    for (Index u = 0; u < layer.outputs(); ++u) first_.push_back(UnitAt(0, u, x.mean));
  }

  // One draw of everything below the last layer; then the last layer's functions.
  std::vector<RowsGaussian> Draw(RandomStream* stream) const {
    Matrix raw = x_.mean;
    if ((x_.var.array() > 0).any())
      raw += x_.var.cwiseSqrt().cwiseProduct(stream->NormalMatrix(raw.rows(), raw.cols()));
    Matrix h = raw;
    const Index last = model_.num_layers() - 1;
    for (Index l = 0; l < last; ++l) h = DrawHiddenUnits(l, h, raw, stream);
    const GpLayer& top = model_.layers[last];
    const Matrix inputs = last == 0 ? raw : InputsOf(top, h, raw);
    std::vector<RowsGaussian> f;
    for (Index t = 0; t < outputs_; ++t)
      f.push_back(FunctionAtRows(top, t, gps_.at(last, t), inputs));
    return f;
  }

 private:
  HiddenUnit UnitAt(Index layer, Index unit, const Matrix& inputs) const {
    RowsGaussian f = FunctionAtRows(model_.layers[layer], unit, gps_.at(layer, unit), inputs);
    return {std::move(f.mean), FactorOf(f.cov)};
  }

  Matrix DrawHiddenUnits(Index l, const Matrix& below, const Matrix& raw,
                         RandomStream* stream) const {
    const GpLayer& layer = model_.layers[l];
    const bool ready = l == 0 && !first_.empty();
    const Matrix inputs = ready || l == 0 ? below : InputsOf(layer, below, raw);
    Matrix h(below.rows(), layer.outputs());
    for (Index u = 0; u < layer.outputs(); ++u) {
      const HiddenUnit made = ready ? HiddenUnit() : UnitAt(l, u, inputs);
      const HiddenUnit& unit = ready ? first_[static_cast<std::size_t>(u)] : made;
      const Vector shared = stream->NormalMatrix(h.rows(), 1);
      const Vector own = stream->NormalMatrix(h.rows(), 1);
      h.col(u) = unit.mean + LowerTimes(unit.L, shared) + std::sqrt(layer.noise_variance[u]) * own;
    }
    return h;
  }

  const DeepGp& model_;
  const ConditionedModel& gps_;
  const Moments& x_;
  Index outputs_;
  std::vector<HiddenUnit> first_;
};

// The draws of one job: their means one by one, their covariances added up.
struct DrawSums {
  std::vector<Matrix> means;  // [outputs] of [draws, N]
  std::vector<Matrix> cov;    // [outputs] of [N, N]
};

}  // namespace

std::vector<Matrix> CovariancesOfRows(const DeepGp& model, const ConditionedModel& gps,
                                      const Moments& x, Index outputs, const JointDraws& draws,
                                      const ThreadPool& pool) {
  FATHOM_CHECK(outputs <= model.outputs() && draws.samples > 0 && x.cols() == model.input_dim());
  // Apart from the streams of paths.
  constexpr std::uint64_t kKey = 0x6a6f696e740a0001;
  constexpr Index kJobs = 8;  // whatever the threads, so that sums have the same bits
  const DrawnRows rows(model, gps, x, outputs);
  const bool exact = model.num_layers() == 1 && (x.var.array() == 0).all();
  const Index S = exact ? 1 : draws.samples;
  const Index N = x.rows();
  std::vector<DrawSums> jobs(static_cast<std::size_t>(std::min(kJobs, S)));
  const auto J = static_cast<Index>(jobs.size());
  pool.Run(J, [&](Index job) {
    DrawSums& sums = jobs[static_cast<std::size_t>(job)];
    sums.means.assign(outputs, Matrix::Zero(S, N));
    sums.cov.assign(outputs, Matrix::Zero(N, N));
    for (Index s = job; s < S; s += J) {
      RandomStream stream(draws.seed ^ kKey, static_cast<std::uint64_t>(s));
      const std::vector<RowsGaussian> f = rows.Draw(&stream);
      for (Index t = 0; t < outputs; ++t) {
        sums.means[t].row(s) = f[t].mean.transpose();
        sums.cov[t] += f[t].cov;
      }
    }
  });
  std::vector<Matrix> covariances;
  for (Index t = 0; t < outputs; ++t) {
    Matrix means = Matrix::Zero(S, N);
    Matrix cov = Matrix::Zero(N, N);
    for (const DrawSums& job : jobs) {
      means += job.means[t];
      cov += job.cov[t];
    }
    means.rowwise() -= means.colwise().mean().eval();
    AddTransposedTimes(means, means, cov);
    covariances.emplace_back(cov / static_cast<double>(S));
  }
  return covariances;
}

}  // namespace fathom
