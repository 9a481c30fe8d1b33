// A fully connected network with one linear output, as a function of all its weights: what the
// Bayesian neural networks of this folder share.
//
//   h_0 = x,  a_l = W_l [h_(l-1); 1],  h_l = activation(a_l),  f = a_L
//
// The weights are one vector, layer after layer; those of a layer are W_l [n_out, n_in + 1] in
// rows, the bias last. So optimisers and samplers see a vector, and only this file knows what it
// means.
#ifndef FATHOM_BNN_MLP_H_
#define FATHOM_BNN_MLP_H_

#include <array>
#include <tuple>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/enum_names.h"
#include "fathom/base/random.h"
#include "fathom/base/types.h"

namespace fathom::bnn {

enum class Activation { kRelu, kTanh };
constexpr auto NamesOf(Activation) {
  return std::to_array<EnumName<Activation>>(
      {{Activation::kRelu, "relu"}, {Activation::kTanh, "tanh"}});
}

// The numbers of a network that do not depend on its weights.
class MlpShape {
 public:
  // Throws Error unless there is at least one input, and a unit in each hidden layer.
  MlpShape(Index inputs, const std::vector<Index>& hidden, Activation activation);

  Activation activation() const { return activation_; }
  Index inputs() const { return widths_.front(); }
  std::vector<Index> hidden() const { return {widths_.begin() + 1, widths_.end() - 1}; }
  Index num_layers() const { return static_cast<Index>(widths_.size()) - 1; }
  Index fan_in(Index layer) const { return widths_[layer]; }  // without the bias
  Index fan_out(Index layer) const { return widths_[layer + 1]; }
  Index num_weights() const { return offsets_.back(); }
  Index offset(Index layer) const { return offsets_[layer]; }  // of its weights

  // W_l [n_out, n_in + 1] of a vector of all weights.
  Eigen::Map<const Matrix> Layer(const Vector& weights, Index layer) const {
    return {weights.data() + offset(layer), fan_out(layer), fan_in(layer) + 1};
  }
  Eigen::Map<Matrix> Layer(Vector* weights, Index layer) const {
    return {weights->data() + offset(layer), fan_out(layer), fan_in(layer) + 1};
  }

  // The groups of a prior are W_1, b_1, W_2, b_2, ...: a number per group as one per weight, the
  // sums over each group, and the sizes of the groups.
  Index num_groups() const { return 2 * num_layers(); }
  Vector SpreadGroups(const Vector& groups) const;
  Vector SumGroups(const Vector& weights) const;
  Vector GroupSizes() const { return SumGroups(Vector::Ones(num_weights())); }

  // 1/(n_in + 1) per weight: with it as a variance, the pre-activations of all layers are of order
  // 1.
  Vector FanInVariances() const;

  bool operator==(const MlpShape&) const = default;

 private:
  std::vector<Index> widths_;   // inputs, hidden layers, 1
  std::vector<Index> offsets_;  // [layers + 1]
  Activation activation_;
};

// A network: a shape with weights. It refers to both.
struct Mlp {
  const MlpShape& shape;
  const Vector& weights;

  auto Layer(Index layer) const { return shape.Layer(weights, layer); }
};

// Applies the activation in place, and multiplies *d by its slope where it returned h.
void Activate(Activation activation, Eigen::Ref<Matrix> a);
void ActivateBackward(Activation activation, const Eigen::Ref<const Matrix>& h,
                      Eigen::Ref<Matrix> d);

// What a pass leaves behind for the way back. Reused for as many rows or fewer, it allocates
// nothing: the matrices have room for more rows than the pass had.
struct MlpTape {
  Vector f;               // [N]
  std::vector<Matrix> h;  // [layers] the inputs of each, [>= N, n_in + 1], ones in the last column
  std::vector<Matrix> d;  // [layers] slopes of the pre-activations, [>= N, n_out]
  // Of ReluResiduals, in either precision.
  std::tuple<AlignedBuffer, AlignedVector<float>> scratch;
  AlignedBuffer sums;

  auto Inputs(Index layer) const { return h[layer].topRows(f.size()); }
  auto Slopes(Index layer) const { return d[layer].topRows(f.size()); }
};

// Factors on the inputs of each layer (not on its bias), [N, n_in] each; dropout's masks over 1 -
// p.
using InputFactors = std::vector<Matrix>;

// Outputs of the rows X [N, inputs]. Cost 2 N weights flop.                        [bnn-forward]
// Rows are passed on as one tile: callers with many rows cut them (kTileRows).
void MlpForward(const Mlp& mlp, const Eigen::Ref<const Matrix>& X, MlpTape* tape,
                const InputFactors* factors = nullptr);

// Adds the gradient of a sum over rows to *d_weights: d_f [N] holds the slopes of each row's term
// with respect to its output. Cost 4 N weights flop.                              [bnn-backward]
void MlpBackward(const Mlp& mlp, const Vector& d_f, MlpTape* tape, Vector* d_weights,
                 const InputFactors* factors = nullptr);

// The same, and adds the sum over rows of the elementwise squares of each row's gradient,
//   sum_n (d_nj)^2 (h_ni)^2,
// to *squares: one more matrix product per layer. d_weights may be null.   [bnn-backward-squared]
void MlpBackwardSquared(const Mlp& mlp, const Vector& d_f, MlpTape* tape, Vector* d_weights,
                        Vector* squares);

// Rows of a tile: enough for the matrix products, few enough for the cache.
inline constexpr Index kTileRows = 256;

// Outputs [N] of many rows, tile by tile. The last tile is filled up, so that the bits of a row do
// not depend on the rows beside it.
Vector MlpOutputs(const Mlp& mlp, const Eigen::Ref<const Matrix>& X);

// Independent N(0, variance) weights.
Vector DrawWeights(const Vector& variances, RandomStream* stream);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_MLP_H_
