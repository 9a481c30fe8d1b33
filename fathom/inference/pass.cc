#include "fathom/inference/pass.h"

#include <algorithm>

namespace fathom {

namespace {

// The columns of a layer's units among those of all layers.
template <typename All>
auto UnitsOf(const DeepGp& model, Index layer, All* all) {
  return all->middleCols(model.first_unit(layer), model.layers[layer].outputs());
}

}  // namespace

void Pass::Reserve(const Network& network, LayerRange layers, Index rows, Index paths) {
  const DeepGp& model = network.model();
  layers_ = layers;
  rows_ = rows;
  paths_ = paths;
  const auto count = static_cast<std::size_t>(layers.end - layers.first);
  handed_.resize(count + 1);
  tapes_.resize(count);
  draws_.resize(paths > 0 ? count : 0);
  skips_ = false;
  Index in = rows;  // rows of what enters a layer
  for (Index l = layers.first; l < layers.end; ++l) {
    const Index i = l - layers.first;
    if (Drawn(l)) {
      in = rows * paths;
      draws_[i].moments.Resize(in, model.layers[l - 1].outputs());
    }
    network.Reserve(l, in, &tapes_[i]);
    handed_[i + 1].moments.Resize(in, model.layers[l].outputs());
    skips_ = skips_ || model.layers[l].skip;
  }
  const Index below =
      layers.first == 0 ? model.input_dim() : model.layers[layers.first - 1].outputs();
  entered().moments.Resize(rows, below);
  if (NeedsRaw()) raw_.Resize(rows, model.input_dim());
  if (paths > 0) {
    eps_.resize(rows * paths, model.num_hidden_units());
    if (skips_) path_raw_.Resize(rows * paths, model.input_dim());
  }
  if (network.options().backward) ReserveDown(model);
}

void Pass::ReserveDown(const DeepGp& model) {
  d_handed_.resize(handed_.size());
  for (std::size_t i = 0; i < handed_.size(); ++i)
    d_handed_[i].moments.Resize(handed_[i].moments.rows(), handed_[i].moments.cols());
  d_draws_.resize(draws_.size());
  for (std::size_t i = 0; i < draws_.size(); ++i)
    d_draws_[i].moments.Resize(draws_[i].moments.rows(), draws_[i].moments.cols());
  if (!skips_) return;
  d_raw_.Resize(rows_, model.input_dim());
  if (paths_ > 0) d_path_raw_.Resize(rows_ * paths_, model.input_dim());
}

// The input of a layer from what the one below handed on.
const Handed& Pass::HandOn(const DeepGp& model, Index l) {
  const Index i = l - layers_.first;
  if (!Drawn(l)) return handed_[i];
  DrawHidden(handed_[i].moments, PathsFrom(l), UnitsOf(model, l - 1, &eps_), &draws_[i].moments);
  return draws_[i];
}

void Pass::HandOnBackward(const DeepGp& model, Index l, Sums* sums) {
  const Index i = l - layers_.first;
  const Moments& below = handed_[i].moments;
  const Matrix& d_h = d_draws_[i].moments.mean;
  DrawHiddenBackward(below, PathsFrom(l), UnitsOf(model, l - 1, &eps_), d_h, &d_handed_[i].moments);
  if (model.propagation != Propagation::kPoints) return;
  Eigen::Map<Matrix> d_points = sums->points();
  PointsBackward(below, PathsFrom(l), d_h, UnitsOf(model, l - 1, &d_points));
}

void Pass::Up(const Network& network, const PathSource& paths, std::span<const Index> numbers) {
  const DeepGp& model = network.model();
  if (paths_ > 0 && layers_.end > 1) {
    DrawPaths(model, paths, numbers, &eps_);
    if (skips_) RepeatRows(raw(), paths_, &path_raw_);
  }
  for (Index l = layers_.first; l < layers_.end; ++l) {
    const Index i = l - layers_.first;
    network.Forward(l, HandOn(model, l), Drawn(l) ? path_raw_ : raw(), &tapes_[i], &handed_[i + 1]);
  }
}

void Pass::Down(const Network& network, Wanted wanted, Sums* sums) {
  const DeepGp& model = network.model();
  const bool raw_wanted = wanted.raw && skips_;
  if (raw_wanted) {
    d_raw_.SetZero(rows_, model.input_dim());
    if (paths_ > 0) d_path_raw_.SetZero(rows_ * paths_, model.input_dim());
  }
  for (Index l = layers_.end - 1; l >= layers_.first; --l) {
    const Index i = l - layers_.first;
    const bool drawn = Drawn(l);
    const bool below_wanted = l > layers_.first || wanted.entered;
    Network::InputGradient d_input;
    if (below_wanted) d_input.below = drawn ? &d_draws_[i] : &d_handed_[i];
    if (raw_wanted) d_input.raw = drawn ? &d_path_raw_ : &d_raw_;
    // Drawn units are certain; only raw inputs beside them can have a variance.
    d_input.var = !drawn || (raw_wanted && model.layers[l].skip);
    network.Backward(l, d_handed_[i + 1], d_input, &tapes_[i], sums);
    if (drawn && below_wanted) HandOnBackward(model, l, sums);
  }
  if (!raw_wanted || paths_ == 0) return;
  for (Index n = 0; n < rows_; ++n) {
    d_raw_.mean.row(n) += d_path_raw_.mean.middleRows(n * paths_, paths_).colwise().sum();
    d_raw_.var.row(n) += d_path_raw_.var.middleRows(n * paths_, paths_).colwise().sum();
  }
}

}  // namespace fathom
