#include "bnn/mlp.h"

#include <algorithm>

#include "bnn/thin_products.h"
#include "bnn/unit_loops.h"
#include "fathom/base/error.h"

namespace fathom::bnn {

MlpShape::MlpShape(Index inputs, const std::vector<Index>& hidden, Activation activation)
    : activation_(activation) {
  Require(inputs >= 1, "the number of inputs", "at least 1", inputs);
  widths_.push_back(inputs);
  for (const Index width : hidden) {
    Require(width >= 1, "the width of a hidden layer", "at least 1", width);
    widths_.push_back(width);
  }
  widths_.push_back(1);
  offsets_.push_back(0);
  for (Index l = 0; l < num_layers(); ++l)
    offsets_.push_back(offsets_.back() + fan_out(l) * (fan_in(l) + 1));
}

Vector MlpShape::SpreadGroups(const Vector& groups) const {
  FATHOM_CHECK(groups.size() == num_groups());
  Vector spread(num_weights());
  for (Index l = 0; l < num_layers(); ++l) {
    auto W = Layer(&spread, l);
    W.leftCols(fan_in(l)).setConstant(groups[2 * l]);
    W.col(fan_in(l)).setConstant(groups[2 * l + 1]);
  }
  return spread;
}

Vector MlpShape::SumGroups(const Vector& weights) const {
  FATHOM_CHECK(weights.size() == num_weights());
  Vector sums(num_groups());
  for (Index l = 0; l < num_layers(); ++l) {
    const auto W = Layer(weights, l);
    sums[2 * l] = W.leftCols(fan_in(l)).sum();
    sums[2 * l + 1] = W.col(fan_in(l)).sum();
  }
  return sums;
}

Vector MlpShape::FanInVariances() const {
  Vector variances(num_weights());
  for (Index l = 0; l < num_layers(); ++l)
    Layer(&variances, l).setConstant(1 / static_cast<double>(fan_in(l) + 1));
  return variances;
}

void Activate(Activation activation, Eigen::Ref<Matrix> a) {
  if (activation == Activation::kRelu) {
    Rectify({a.rows(), a.cols(), a.outerStride()}, a.data());
  } else {
    a = a.array().tanh();
  }
}

void ActivateBackward(Activation activation, const Eigen::Ref<const Matrix>& h,
                      Eigen::Ref<Matrix> d) {
  if (activation == Activation::kRelu) {
    FATHOM_CHECK(d.outerStride() == d.cols());
    RectifyBackward({h.rows(), h.cols(), h.outerStride()}, h.data(), d.data());
  } else {
    d.array() *= 1 - h.array().square();
  }
}

namespace {

// Makes room for so many rows; the last column of a new matrix of inputs is ones.
void Reserve(Index rows, Index cols, Matrix* matrix) {
  if (matrix->rows() < rows || matrix->cols() != cols) matrix->setOnes(rows, cols);
}

}  // namespace

void MlpForward(const Mlp& mlp, const Eigen::Ref<const Matrix>& X, MlpTape* tape,
                const InputFactors* factors) {
  const MlpShape& shape = mlp.shape;
  FATHOM_CHECK(X.cols() == shape.inputs() && mlp.weights.size() == shape.num_weights());
  tape->f.resize(X.rows());
  tape->h.resize(static_cast<std::size_t>(shape.num_layers()));
  for (Index l = 0; l < shape.num_layers(); ++l) {
    Reserve(X.rows(), shape.fan_in(l) + 1, &tape->h[l]);
    auto values = tape->h[l].topLeftCorner(X.rows(), shape.fan_in(l));
    if (l == 0) {
      values = X;
    } else {
      TimesTransposed(tape->Inputs(l - 1), mlp.Layer(l - 1), values);
      Activate(shape.activation(), values);
    }
    if (factors != nullptr) values.array() *= (*factors)[l].array();
  }
  const Index last = shape.num_layers() - 1;
  tape->f.noalias() = tape->Inputs(last) * mlp.Layer(last).row(0).transpose();
}

namespace {

// The slopes of the pre-activations below layer l, through the activation, from those of its own.
void StepDown(const Mlp& mlp, Index l, const InputFactors* factors, MlpTape* tape) {
  const MlpShape& shape = mlp.shape;
  const Index rows = tape->f.size();
  const auto h = tape->h[l].topLeftCorner(rows, shape.fan_in(l));
  const auto W = mlp.Layer(l).leftCols(shape.fan_in(l));
  const bool relu = shape.activation() == Activation::kRelu;
  Reserve(rows, shape.fan_in(l), &tape->d[l - 1]);
  auto below = tape->d[l - 1].topRows(rows);
  if (relu && W.rows() == 1) {
    RectifyOuter({rows, h.cols(), h.outerStride()}, tape->d[l].data(), W.data(), h.data(),
                 below.data());
  } else {
    SetProduct(tape->Slopes(l), W, below);
    if (relu || factors == nullptr) ActivateBackward(shape.activation(), h, below);
  }
  if (factors == nullptr) return;
  // The tape holds h times its factor, which is positive where h is. Where the factor is 0, so is
  // the slope, whatever h was.
  const auto factor = (*factors)[l].array();
  below.array() *= factor;
  if (!relu)
    ActivateBackward(shape.activation(), (factor != 0).select(h.array() / factor, 0).matrix(),
                     below);
}

// Calls add(l) with the slopes of layer l's pre-activations in tape->d[l], from the top down.
template <typename Add>
void SweepDown(const Mlp& mlp, const Vector& d_f, const InputFactors* factors, MlpTape* tape,
               const Add& add) {
  const Index layers = mlp.shape.num_layers();
  FATHOM_CHECK(d_f.size() == tape->f.size());
  tape->d.resize(static_cast<std::size_t>(layers));
  Reserve(d_f.size(), 1, &tape->d.back());
  tape->d.back().topRows(d_f.size()) = d_f;
  for (Index l = layers - 1; l >= 0; --l) {
    add(l);
    if (l > 0) StepDown(mlp, l, factors, tape);
  }
}

}  // namespace

void MlpBackward(const Mlp& mlp, const Vector& d_f, MlpTape* tape, Vector* d_weights,
                 const InputFactors* factors) {
  SweepDown(mlp, d_f, factors, tape, [&](Index l) {
    AddOuterProducts(tape->Slopes(l), tape->Inputs(l), mlp.shape.Layer(d_weights, l));
  });
}

void MlpBackwardSquared(const Mlp& mlp, const Vector& d_f, MlpTape* tape, Vector* d_weights,
                        Vector* squares) {
  SweepDown(mlp, d_f, nullptr, tape, [&](Index l) {
    if (d_weights != nullptr)
      AddOuterProducts(tape->Slopes(l), tape->Inputs(l), mlp.shape.Layer(d_weights, l));
    AddOuterProducts(tape->Slopes(l).cwiseAbs2(), tape->Inputs(l).cwiseAbs2(),
                     mlp.shape.Layer(squares, l));
  });
}

Vector MlpOutputs(const Mlp& mlp, const Eigen::Ref<const Matrix>& X) {
  constexpr Index kRows = 64;
  MlpTape tape;
  Vector f(X.rows());
  Matrix tile = Matrix::Zero(kRows, X.cols());
  for (Index first = 0; first < X.rows(); first += kRows) {
    const Index rows = std::min(kRows, X.rows() - first);
    tile.topRows(rows) = X.middleRows(first, rows);
    MlpForward(mlp, tile, &tape);
    f.segment(first, rows) = tape.f.head(rows);
  }
  return f;
}

Vector DrawWeights(const Vector& variances, RandomStream* stream) {
  Vector weights(variances.size());
  for (double& weight : weights) weight = stream->Normal();
  return weights.cwiseProduct(variances.cwiseSqrt());
}

}  // namespace fathom::bnn
