#include "bnn/relu_residuals.h"

#include <algorithm>
#include <utility>

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
  const double *W, *w;      // [units, inputs + 1], and [units + 1] with b at its end
  const double *c_x, *c_h;  // factors of inputs and units, [rows, ...], or null
  double *packed_W, *S;     // [inputs + 1, padded]
  double* packed_w;         // [padded]
  double* kept;             // [tile rows, padded]: h, or with factors its slope [h > 0] c
  double* x;                // [tile rows, inputs]: with factors
  double* c_last;           // [tile rows, lanes]: those of the last vector of units
  double* f_lanes;          // [tile rows, lanes]: f without b, not yet summed over lanes
  double* r;                // [tile rows]
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

// The inputs of a tile, times their factors.
ThinRows TileInputs(const ReluPass& pass, Index first) {
  const Index rows = std::min(kReluTileRows, pass.rows - first);
  const double* const X = pass.X + first * pass.inputs;
  if (pass.c_x == nullptr) return {rows, pass.inputs, pass.inputs, X};
  const double* const c = pass.c_x + first * pass.inputs;
  for (Index i = 0; i < rows * pass.inputs; ++i) pass.x[i] = c[i] * X[i];
  return {rows, pass.inputs, pass.inputs, pass.x};
}

// The factors of a vector of units from j on, which are `stride` apart from row to row.
struct UnitFactors {
  const double* data;
  Index stride;
};
UnitFactors TileFactors(const ReluPass& pass, Index first, Index rows, Index j) {
  const Index lanes = UnitLanes();
  const double* const c = pass.c_h + first * pass.units + j;
  if (j + lanes <= pass.units) return {c, pass.units};
  const Index rest = pass.units - j;
  for (Index n = 0; n < rows; ++n)
    std::fill_n(std::copy_n(c + n * pass.units, rest, pass.c_last + n * lanes), lanes - rest, 0.0);
  return {pass.c_last, lanes};
}

// Leaves `kept` and f_lanes of the tile's rows behind.
template <bool kFactors>
void TileForward(const ReluPass& pass, Index first, const ThinRows& x) {
  const Units d;
  const Index lanes = UnitLanes();
  double* HWY_RESTRICT const f = pass.f_lanes;
  std::fill_n(f, x.rows * lanes, 0.0);
  for (Index j = 0; j < pass.padded; j += lanes) {
    double* HWY_RESTRICT const kept = pass.kept + j * kReluTileRows;
    const double* const W = pass.packed_W + j * (x.cols + 1);
    const auto w = hn::Load(d, pass.packed_w + j);
    const UnitFactors factors =
        kFactors ? TileFactors(pass, first, x.rows, j) : UnitFactors{nullptr, 0};
    ThinForward(x, W, hn::Load(d, W + x.cols * lanes), [=](Index n, UnitVector a) HWY_ATTR {
      auto h = fathom::HWY_NAMESPACE::NotBelow(d, hn::Zero(d), a);
      if constexpr (kFactors) {
        const auto c = hn::LoadU(d, factors.data + n * factors.stride);
        h = hn::Mul(h, c);
        hn::Store(hn::IfThenElseZero(hn::Gt(a, hn::Zero(d)), c), d, kept + n * lanes);
      } else {
        hn::Store(h, d, kept + n * lanes);
      }
      hn::Store(hn::MulAdd(h, w, hn::Load(d, f + n * lanes)), d, f + n * lanes);
    });
  }
}

// Adds to S.
template <bool kFactors>
void TileBackward(const ReluPass& pass, const ThinRows& x) {
  const Units d;
  const Index lanes = UnitLanes();
  const double* HWY_RESTRICT const r = pass.r;
  for (Index j = 0; j < pass.padded; j += lanes) {
    const double* HWY_RESTRICT const kept = pass.kept + j * kReluTileRows;
    const auto slopes = [=](Index n) HWY_ATTR {
      const auto of_row = hn::Load(d, kept + n * lanes);
      if constexpr (kFactors) return hn::Mul(of_row, hn::Set(d, r[n]));
      return hn::IfThenElseZero(hn::Gt(of_row, hn::Zero(d)), hn::Set(d, r[n]));
    };
    ThinBackward<true>(x, slopes, pass.S + j * (x.cols + 1));
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

// Puts the residuals of the tile from row `first` on into r and adds them to *sum. Returns the sum
// of their squares.
double TileResiduals(const ReluPass& pass, Index first, Index rows, double* sum) {
  const Units d;
  const double b = pass.w[pass.units];
  double squares = 0;
  for (Index n = 0; n < rows; ++n) {
    const auto lanes = hn::Load(d, pass.f_lanes + n * UnitLanes());
    const double r = pass.y[first + n] - (hn::GetLane(hn::SumOfLanes(d, lanes)) + b);
    pass.r[n] = r;
    squares += r * r;
    *sum += r;
  }
  return squares;
}

template <bool kFactors>
double RunTiles(const ReluPass& pass, double* d_W, double* d_w) {
  PackNetwork(pass);
  double squares = 0;
  double sum = 0;
  for (Index first = 0; first < pass.rows; first += kReluTileRows) {
    const ThinRows x = TileInputs(pass, first);
    TileForward<kFactors>(pass, first, x);
    squares += TileResiduals(pass, first, x.rows, &sum);
    if (d_W != nullptr) TileBackward<kFactors>(pass, x);
  }
  if (d_W != nullptr) {
    AddDescent(pass, d_W, d_w);
    d_w[pass.units] += sum;
  }
  return squares;
}

double RunReluPass(ReluPass pass, double* d_W, double* d_w) {
  // There is room for the widest vectors. These may be narrower.
  pass.padded = (pass.units + UnitLanes() - 1) / UnitLanes() * UnitLanes();
  return pass.c_h == nullptr ? RunTiles<false>(pass, d_W, d_w) : RunTiles<true>(pass, d_W, d_w);
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
                     Vector* descent, const InputFactors* factors) {
  const MlpShape& shape = mlp.shape;
  const Index inputs = shape.inputs();
  const Index units = shape.fan_out(0);
  FATHOM_CHECK(HasOneReluLayer(shape) && X.cols() == inputs && X.rows() == y.size() &&
               mlp.weights.size() == shape.num_weights());
  if (factors != nullptr)
    FATHOM_CHECK(factors->size() == 2 && factors->at(0).rows() == X.rows() &&
                 factors->at(0).cols() == inputs && factors->at(1).rows() == X.rows() &&
                 factors->at(1).cols() == units);
  const Index padded = PaddedSize(units);
  AlignedBuffer& scratch = tape->scratch;
  scratch.resize(static_cast<std::size_t>((2 * (inputs + 1) + 1 + kReluTileRows) * padded +
                                          kReluTileRows * (inputs + 2 * kSimdPadding + 1)));
  double* end = scratch.data();
  const auto take = [&end](Index size) { return std::exchange(end, end + size); };
  const ReluPass pass{.rows = X.rows(),
                      .inputs = inputs,
                      .units = units,
                      .padded = padded,
                      .X = X.data(),
                      .y = y.data(),
                      .W = mlp.weights.data() + shape.offset(0),
                      .w = mlp.weights.data() + shape.offset(1),
                      .c_x = factors == nullptr ? nullptr : factors->at(0).data(),
                      .c_h = factors == nullptr ? nullptr : factors->at(1).data(),
                      .packed_W = take((inputs + 1) * padded),
                      .S = take((inputs + 1) * padded),
                      .packed_w = take(padded),
                      .kept = take(kReluTileRows * padded),
                      .x = take(kReluTileRows * inputs),
                      .c_last = take(kReluTileRows * kSimdPadding),
                      .f_lanes = take(kReluTileRows * kSimdPadding),
                      .r = take(kReluTileRows)};
  double* const d_W = descent == nullptr ? nullptr : descent->data();
  double* const d_w = descent == nullptr ? nullptr : d_W + shape.offset(1);
  return HWY_DYNAMIC_DISPATCH(RunReluPass)(pass, d_W, d_w);
}

}  // namespace fathom::bnn
#endif  // HWY_ONCE
