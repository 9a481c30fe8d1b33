#include "fathom/inference/paths.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/random.h"

namespace fathom {

PathSource TrainingPaths(const DeepGp& model, std::uint64_t seed, std::uint64_t draw) {
  if (model.num_layers() == 1) return {};
  return {model.num_paths(), seed, draw};
}

void DrawPaths(const DeepGp& model, const PathSource& source, std::span<const Index> rows,
               Matrix* eps) {
  // Apart from the streams with which the same seed starts the model and orders the rows.
  constexpr std::uint64_t kKey = 0x70617468730a0001;
  const Index S = source.samples;
  const auto count = static_cast<Index>(rows.size());
  eps->resize(count * S, model.num_hidden_units());
  if (model.propagation == Propagation::kPoints) {
    FATHOM_CHECK(S == model.points.rows());
    for (Index n = 0; n < count; ++n) eps->middleRows(n * S, S) = model.points;
    return;
  }
  for (Index n = 0; n < count; ++n) {
    RandomStream stream(source.seed ^ kKey,
                        (source.draw << 40) + static_cast<std::uint64_t>(rows[n]));
    double* first = eps->row(n * S).data();
    for (Index i = 0; i < S * eps->cols(); ++i) first[i] = stream.Normal();
  }
}

void LogPathWeights(const DeepGp& model, Index samples, Vector* log_weights) {
  if (model.propagation == Propagation::kPoints) {
    *log_weights = (model.point_weights.array() / model.point_weights.sum()).log();
  } else {
    log_weights->setConstant(samples, -std::log(static_cast<double>(samples)));
  }
}

void RepeatRows(const Moments& rows, Index repeat, Moments* out) {
  out->mean.resize(rows.rows() * repeat, rows.cols());
  out->var.resize(rows.rows() * repeat, rows.cols());
  for (Index n = 0; n < rows.rows(); ++n) {
    out->mean.middleRows(n * repeat, repeat).rowwise() = rows.mean.row(n);
    out->var.middleRows(n * repeat, repeat).rowwise() = rows.var.row(n);
  }
}

void DrawHidden(const Moments& moments, Index repeat, const Eigen::Ref<const Matrix>& eps,
                Moments* h) {
  const Index paths = moments.rows() * repeat;
  const Index units = moments.cols();
  h->mean.resize(paths, units);
  h->var.setZero(paths, units);
  for (Index n = 0; n < moments.rows(); ++n) {
    for (Index p = n * repeat; p < (n + 1) * repeat; ++p) {
      h->mean.row(p).array() =
          moments.mean.row(n).array() + moments.var.row(n).array().sqrt() * eps.row(p).array();
    }
  }
}

void DrawHiddenBackward(const Moments& moments, Index repeat, const Eigen::Ref<const Matrix>& eps,
                        const Matrix& d_h, Moments* d_moments) {
  const Index units = moments.cols();
  d_moments->mean.setZero(moments.rows(), units);
  d_moments->var.setZero(moments.rows(), units);
  for (Index n = 0; n < moments.rows(); ++n) {
    for (Index p = n * repeat; p < (n + 1) * repeat; ++p) {
      d_moments->mean.row(n) += d_h.row(p);
      d_moments->var.row(n).array() +=
          0.5 * d_h.row(p).array() * eps.row(p).array() / moments.var.row(n).array().sqrt();
    }
  }
}

void PointsBackward(const Moments& moments, Index repeat, const Matrix& d_h,
                    Eigen::Ref<Matrix> d_points) {
  for (Index p = 0; p < d_h.rows(); ++p) {
    d_points.row(p % d_points.rows()).array() +=
        d_h.row(p).array() * moments.var.row(p / repeat).array().sqrt();
  }
}

double MixPaths(const Vector& log_weights, double alpha, double outer, double* l,
                double* d_log_weights) {
  const Index S = log_weights.size();
  const double divisor = alpha == 0 ? 1 : alpha;
  Eigen::Map<Eigen::ArrayXd> terms(l, S);
  const auto w = log_weights.array().exp();
  if (outer == 0) {
    const double mean = (w * terms).sum();
    if (d_log_weights != nullptr) Eigen::Map<Eigen::ArrayXd>(d_log_weights, S) = w * (terms - mean);
    terms = w;
    return mean;
  }
  terms = log_weights.array() + (outer / divisor) * terms;
  // A NaN among the terms must come out as NaN.
  const double largest = terms.maxCoeff<Eigen::PropagateNaN>();
  terms = (terms - largest).exp();
  const double sum = terms.sum();
  terms /= sum;
  if (d_log_weights != nullptr)
    Eigen::Map<Eigen::ArrayXd>(d_log_weights, S) = (divisor / outer) * (terms - w);
  return (divisor / outer) * (largest + std::log(sum));
}

}  // namespace fathom
