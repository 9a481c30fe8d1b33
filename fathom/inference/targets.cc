#include "fathom/inference/targets.h"

#include <algorithm>

namespace fathom {

void Targets::Reserve(const DeepGp& model, Index paths) {
  log_z_.resize(std::max<Index>(paths, 1));
  d_likelihood_.resize(log_z_.size(), model.likelihood_parameters.size());
  d_log_weights_.resize(paths);
  if (paths > 0) LogPathWeights(model, paths, &log_weights_);
}

void Targets::Meet(const Network& network, const LogZOptions& options, const Row& row, Pass* pass,
                   Sums* sums) {
  const DeepGp& model = network.model();
  if (network.options().joint) {
    MeetJointly(model, options.alpha, row, pass, sums);
    return;
  }
  const Moments& f = pass->top().moments;
  Moments& d_f = pass->d_top().moments;
  const Index count = log_z_.size();
  const Index first = row.row * count;
  d_likelihood_.setZero();
  for (Index s = 0; s < count; ++s) {
    const Index p = first + s;
    log_z_[s] = model.likelihood->LogZ(
        {model.likelihood_parameters, options.alpha, model.outputs(), row.y, f.mean.row(p).data(),
         f.var.row(p).data()},
        {d_f.mean.row(p).data(), d_f.var.row(p).data(), d_likelihood_.row(s).data()});
  }
  Vector& share = log_z_;  // becomes the slope of log Z with respect to the log Z of each path
  if (pass->paths() == 0) {
    sums->log_z() += row.weight * log_z_[0];
    share[0] = row.weight;
  } else {
    sums->log_z() += row.weight * MixPaths(log_weights_, options.alpha, options.outer,
                                           log_z_.data(), d_log_weights_.data());
    share *= row.weight;
    auto d_weights = sums->point_log_weights();
    if (d_weights.size() > 0) d_weights += row.weight * d_log_weights_;
  }
  d_f.mean.middleRows(first, count).array().colwise() *= share.array();
  d_f.var.middleRows(first, count).array().colwise() *= share.array();
  auto d_parameters = sums->likelihood();
  if (d_parameters.size() > 0) d_parameters.noalias() += d_likelihood_.transpose() * share;
}

// The outputs of a row are one joint Gaussian.
void Targets::MeetJointly(const DeepGp& model, double alpha, const Row& row, Pass* pass,
                          Sums* sums) {
  const FullMoments& f = pass->top().joint;
  FullMoments& d_f = pass->d_top().joint;
  if (d_f.rows() != f.rows() || d_f.cols() != f.cols()) d_f.SetZero(f.rows(), f.cols());
  const Index n = row.row;
  Vector d_mean(f.cols());
  Vector d_parameters = Vector::Zero(model.likelihood_parameters.size());
  const Vector mean = f.mean.row(n).transpose();
  sums->log_z() += row.weight * model.likelihood->LogZFull(
                                    {model.likelihood_parameters, alpha, row.y, mean, f.cov[n]},
                                    {d_mean, d_f.cov[n], d_parameters.data()});
  d_f.mean.row(n) = row.weight * d_mean.transpose();
  d_f.cov[n] *= row.weight;
  sums->likelihood() += row.weight * d_parameters;
}

}  // namespace fathom
