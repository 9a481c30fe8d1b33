#include "bnn/relu_residuals.h"

#include <algorithm>

#include "fathom/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bnn/relu_residuals.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "bnn/thin_products-inl.h"
#include "fathom/base/simd_exp-inl.h"

// Once for all targets.
#ifndef FATHOM_BNN_RELU_RESIDUALS_CC_
#define FATHOM_BNN_RELU_RESIDUALS_CC_

namespace fathom::bnn {

constexpr Index kReluTileRows = 64;

// The network and its rows, and room for what lies between. `padded` is the number of units, filled
// up to whole vectors by units whose weights are 0; arrays over them are [vectors][...][lanes].
struct ReluPass {
  Index rows, inputs, units, padded;
  const double *X, *y;
  const double *W, *w;   // [units, inputs + 1], and [units + 1] with b at its end
  double *packed_W, *S;  // [inputs + 1, padded]
  double* packed_w;      // [padded]
  double* h;             // [tile rows, padded]
  double* x;             // [tile rows, inputs + 1]
  double* f_lanes;       // [tile rows, lanes]: f without b, not yet summed over lanes
  double* r;             // [tile rows]
};

}  // namespace fathom::bnn
#endif  // FATHOM_BNN_RELU_RESIDUALS_CC_

HWY_BEFORE_NAMESPACE();
namespace fathom::bnn::HWY_NAMESPACE {

void PackNetwork(const ReluPass& pass) {
  const Index lanes = UnitLanes();
  const Index cols = pass.inputs + 1;
  for (Index j = 0; j < pass.padded; j += lanes)
    PackUnits(pass.W + j * cols, std::min(lanes, pass.units - j), cols, cols,
              pass.packed_W + j * cols);
  std::fill_n(std::copy_n(pass.w, pass.units, pass.packed_w), pass.padded - pass.units, 0.0);
  std::fill_n(pass.S, cols * pass.padded, 0.0);
}

// Leaves h and f_lanes of the tile's rows behind.
void TileForward(const ReluPass& pass, const ThinRows& x) {
  const Units d;
  const Index lanes = UnitLanes();
  double* HWY_RESTRICT const f = pass.f_lanes;
  std::fill_n(f, x.rows * lanes, 0.0);
  for (Index j = 0; j < pass.padded; j += lanes) {
    double* HWY_RESTRICT const h = pass.h + j * kReluTileRows;
    const auto w = hn::Load(d, pass.packed_w + j);
    ThinForward(x, pass.packed_W + j * x.cols, [=](Index n, UnitVector a) HWY_ATTR {
      const auto on = fathom::HWY_NAMESPACE::NotBelow(d, hn::Zero(d), a);
      hn::Store(on, d, h + n * lanes);
      hn::Store(hn::MulAdd(on, w, hn::Load(d, f + n * lanes)), d, f + n * lanes);
    });
  }
}

// Adds to S.
void TileBackward(const ReluPass& pass, const ThinRows& x) {
  const Units d;
  const Index lanes = UnitLanes();
  const double* HWY_RESTRICT const r = pass.r;
  for (Index j = 0; j < pass.padded; j += lanes) {
    const double* HWY_RESTRICT const h = pass.h + j * kReluTileRows;
    ThinBackward(
        x,
        [=](Index n) HWY_ATTR {
          const auto on = hn::Gt(hn::Load(d, h + n * lanes), hn::Zero(d));
          return hn::IfThenElseZero(on, hn::Set(d, r[n]));
        },
        pass.S + j * x.cols);
  }
}

void AddDescent(const ReluPass& pass, double* HWY_RESTRICT d_W, double* HWY_RESTRICT d_w) {
  const Index lanes = UnitLanes();
  const Index cols = pass.inputs + 1;
  for (Index unit = 0; unit < pass.units; ++unit) {
    const double* const S = pass.S + unit / lanes * lanes * cols + unit % lanes;
    for (Index i = 0; i < cols; ++i) {
      d_W[unit * cols + i] += pass.w[unit] * S[i * lanes];
      d_w[unit] += pass.W[unit * cols + i] * S[i * lanes];
    }
  }
}

double RunReluPass(const ReluPass& pass, double* d_W, double* d_w) {
  const Units d;
  const Index lanes = UnitLanes();
  const Index cols = pass.inputs + 1;
  const double b = pass.w[pass.units];
  PackNetwork(pass);
  double squares = 0;
  for (Index first = 0; first < pass.rows; first += kReluTileRows) {
    const ThinRows x{std::min(kReluTileRows, pass.rows - first), cols, cols, pass.x};
    for (Index n = 0; n < x.rows; ++n)
      *std::copy_n(pass.X + (first + n) * pass.inputs, pass.inputs, pass.x + n * cols) = 1;
    TileForward(pass, x);
    double sum = 0;
    for (Index n = 0; n < x.rows; ++n) {
      const double f = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, pass.f_lanes + n * lanes)));
      pass.r[n] = pass.y[first + n] - (f + b);
      squares += pass.r[n] * pass.r[n];
      sum += pass.r[n];
    }
    if (d_W == nullptr) continue;
    TileBackward(pass, x);
    d_w[pass.units] += sum;
  }
  if (d_W != nullptr) AddDescent(pass, d_W, d_w);
  return squares;
}

}  // namespace fathom::bnn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::bnn {

HWY_EXPORT(RunReluPass);

bool HasOneReluLayer(const MlpShape& shape) {
  return shape.num_layers() == 2 && shape.activation() == Activation::kRelu;
}

double ReluResiduals(const Mlp& mlp, const Matrix& X, const Vector& y, MlpTape* tape,
                     Vector* descent) {
  const MlpShape& shape = mlp.shape;
  FATHOM_CHECK(HasOneReluLayer(shape) && X.cols() == shape.inputs() && X.rows() == y.size() &&
               mlp.weights.size() == shape.num_weights());
  const Index cols = shape.inputs() + 1;
  const Index padded = PaddedSize(shape.fan_out(0));
  AlignedBuffer& scratch = tape->scratch;
  scratch.resize(static_cast<std::size_t>((2 * cols + 1 + kReluTileRows) * padded +
                                          kReluTileRows * (kSimdPadding + cols + 1)));
  double* end = scratch.data();
  const auto take = [&end](Index size) { return std::exchange(end, end + size); };
  const ReluPass pass{.rows = X.rows(),
                      .inputs = shape.inputs(),
                      .units = shape.fan_out(0),
                      .padded = padded,
                      .X = X.data(),
                      .y = y.data(),
                      .W = mlp.weights.data() + shape.offset(0),
                      .w = mlp.weights.data() + shape.offset(1),
                      .packed_W = take(cols * padded),
                      .S = take(cols * padded),
                      .packed_w = take(padded),
                      .h = take(kReluTileRows * padded),
                      .x = take(kReluTileRows * cols),
                      .f_lanes = take(kReluTileRows * kSimdPadding),
                      .r = take(kReluTileRows)};
  double* const slopes = descent == nullptr ? nullptr : descent->data();
  return HWY_DYNAMIC_DISPATCH(RunReluPass)(pass, slopes,
                                           slopes == nullptr ? nullptr : slopes + shape.offset(1));
}

}  // namespace fathom::bnn
#endif  // HWY_ONCE
