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
// Sums in single precision are over this many tiles; sums of these are in double.
constexpr Index kSingleTiles = 8;

// The network and its rows, and room for what lies between. `padded` is the number of units, filled
// up to whole vectors by units whose weights are 0; arrays over them are [vectors][...][lanes].
template <typename T>
struct ReluPass {
  Index rows, inputs, units, padded;
  const T* X;
  const double *y, *W, *w;  // W [units, inputs + 1], and w [units + 1] with b at its end
  const T *c_x, *c_h;       // factors of inputs and units, [rows, ...], or null
  T *packed_W, *tile_S;     // [inputs + 1, padded]: S of the last tiles
  double* S;                // and of those before them
  T* packed_w;              // [padded]
  T* kept;                  // [tile rows, padded]: h, or with factors its slope [h > 0] c
  T* x;                     // [tile rows, inputs]: with factors
  T* c_last;                // [tile rows, lanes]: those of the last vector of units
  T* f_lanes;               // [tile rows, lanes]: f without b, not yet summed over lanes
  T* r;                     // [tile rows]
};

}  // namespace fathom::bnn
#endif  // FATHOM_BNN_RELU_RESIDUALS_CC_

HWY_BEFORE_NAMESPACE();
namespace fathom::bnn::HWY_NAMESPACE {

template <typename T>
void PackNetwork(const ReluPass<T>& pass) {
  const Index lanes = UnitLanes<T>();
  const Index cols = pass.inputs + 1;
  for (Index j = 0; j < pass.padded; j += lanes)
    PackUnits(pass.W + j * cols, std::min(lanes, pass.units - j), cols, cols,
              pass.packed_W + j * cols);
  std::fill_n(pass.packed_w, pass.padded, T{0});
  for (Index j = 0; j < pass.units; ++j) pass.packed_w[j] = static_cast<T>(pass.w[j]);
  std::fill_n(pass.tile_S, cols * pass.padded, T{0});
  std::fill_n(pass.S, cols * pass.padded, 0.0);
}

// The inputs of a tile, times their factors.
template <typename T>
ThinRows<T> TileInputs(const ReluPass<T>& pass, Index first) {
  const Index rows = std::min(kReluTileRows, pass.rows - first);
  const T* const X = pass.X + first * pass.inputs;
  if (pass.c_x == nullptr) return {rows, pass.inputs, pass.inputs, X};
  const T* const c = pass.c_x + first * pass.inputs;
  for (Index i = 0; i < rows * pass.inputs; ++i) pass.x[i] = c[i] * X[i];
  return {rows, pass.inputs, pass.inputs, pass.x};
}

// The factors of a vector of units from j on, which are `stride` apart from row to row.
template <typename T>
struct UnitFactors {
  const T* data;
  Index stride;
};
template <typename T>
UnitFactors<T> TileFactors(const ReluPass<T>& pass, Index first, Index rows, Index j) {
  const Index lanes = UnitLanes<T>();
  const T* const c = pass.c_h + first * pass.units + j;
  if (j + lanes <= pass.units) return {c, pass.units};
  const Index rest = pass.units - j;
  for (Index n = 0; n < rows; ++n)
    std::fill_n(std::copy_n(c + n * pass.units, rest, pass.c_last + n * lanes), lanes - rest, T{0});
  return {pass.c_last, lanes};
}

// Sets `kept` of kVectors vectors of units from j on, and adds them to f_lanes.
template <bool kFactors, Index kVectors, typename T>
HWY_INLINE void VectorsForward(const ReluPass<T>& pass, Index first, const ThinRows<T>& x,
                               Index j) {
  const Units<T> d;
  const Index lanes = UnitLanes<T>();
  const Index size = lanes * (x.cols + 1);
  const T* const W = pass.packed_W + j * (x.cols + 1);
  T* HWY_RESTRICT const f = pass.f_lanes;
  T* HWY_RESTRICT const kept = pass.kept + j * kReluTileRows;
  UnitVector<T> start[kVectors], w[kVectors];
  UnitFactors<T> factors[kVectors] = {};
  for (Index v = 0; v < kVectors; ++v) {
    start[v] = hn::Load(d, W + v * size + x.cols * lanes);
    w[v] = hn::Load(d, pass.packed_w + j + v * lanes);
    if constexpr (kFactors) factors[v] = TileFactors(pass, first, x.rows, j + v * lanes);
  }
  const auto finish = [=](Index n, const UnitVector<T>* a) HWY_ATTR {
    auto sum = hn::Load(d, f + n * lanes);
    for (Index v = 0; v < kVectors; ++v) {
      T* const own = kept + (v * kReluTileRows + n) * lanes;
      auto h = fathom::HWY_NAMESPACE::NotBelow(d, hn::Zero(d), a[v]);
      if constexpr (kFactors) {
        const auto c = hn::LoadU(d, factors[v].data + n * factors[v].stride);
        h = hn::Mul(h, c);
        hn::Store(hn::IfThenElseZero(hn::Gt(a[v], hn::Zero(d)), c), d, own);
      } else {
        hn::Store(h, d, own);
      }
      sum = hn::MulAdd(h, w[v], sum);
    }
    hn::Store(sum, d, f + n * lanes);
  };
  ThinForward<kVectors>(x, {W, size}, start, finish);
}

// Leaves `kept` and f_lanes of the tile's rows behind. Two vectors of units at a time share the
// loads of x and f.
template <bool kFactors, typename T>
void TileForward(const ReluPass<T>& pass, Index first, const ThinRows<T>& x) {
  const Index lanes = UnitLanes<T>();
  std::fill_n(pass.f_lanes, x.rows * lanes, T{0});
  Index j = 0;
  for (; j + 2 * lanes <= pass.padded; j += 2 * lanes)
    VectorsForward<kFactors, 2>(pass, first, x, j);
  if (j < pass.padded) VectorsForward<kFactors, 1>(pass, first, x, j);
}

// Adds to tile_S.
template <bool kFactors, typename T>
void TileBackward(const ReluPass<T>& pass, const ThinRows<T>& x) {
  const Units<T> d;
  const Index lanes = UnitLanes<T>();
  const T* HWY_RESTRICT const r = pass.r;
  for (Index j = 0; j < pass.padded; j += lanes) {
    const T* HWY_RESTRICT const kept = pass.kept + j * kReluTileRows;
    const auto slopes = [=](Index n) HWY_ATTR {
      const auto of_row = hn::Load(d, kept + n * lanes);
      if constexpr (kFactors) return hn::Mul(of_row, hn::Set(d, r[n]));
      return hn::IfThenElseZero(hn::Gt(of_row, hn::Zero(d)), hn::Set(d, r[n]));
    };
    ThinBackward<true>(x, slopes, pass.tile_S + j * (x.cols + 1));
  }
}

// From tile_S to S.
template <typename T>
void MoveTileSums(const ReluPass<T>& pass) {
  const Index size = (pass.inputs + 1) * pass.padded;
  for (Index i = 0; i < size; ++i) pass.S[i] += pass.tile_S[i];
  std::fill_n(pass.tile_S, size, T{0});
}

template <typename T>
void AddDescent(const ReluPass<T>& pass, double* HWY_RESTRICT d_W, double* HWY_RESTRICT d_w) {
  const Index lanes = UnitLanes<T>();
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
template <typename T>
double TileResiduals(const ReluPass<T>& pass, Index first, Index rows, double* sum) {
  const Units<T> d;
  const double b = pass.w[pass.units];
  double squares = 0;
  for (Index n = 0; n < rows; ++n) {
    const auto lanes = hn::Load(d, pass.f_lanes + n * UnitLanes<T>());
    const double r = pass.y[first + n] - (hn::GetLane(hn::SumOfLanes(d, lanes)) + b);
    pass.r[n] = static_cast<T>(r);
    squares += r * r;
    *sum += r;
  }
  return squares;
}

template <bool kFactors, typename T>
double RunTiles(ReluPass<T> pass, double* d_W, double* d_w) {
  // There is room for the widest vectors. These may be narrower.
  pass.padded = (pass.units + UnitLanes<T>() - 1) / UnitLanes<T>() * UnitLanes<T>();
  PackNetwork(pass);
  double squares = 0;
  double sum = 0;
  for (Index first = 0; first < pass.rows; first += kReluTileRows) {
    const ThinRows<T> x = TileInputs(pass, first);
    TileForward<kFactors>(pass, first, x);
    squares += TileResiduals(pass, first, x.rows, &sum);
    if (d_W == nullptr) continue;
    TileBackward<kFactors>(pass, x);
    if (sizeof(T) < sizeof(double) && (first / kReluTileRows + 1) % kSingleTiles == 0)
      MoveTileSums(pass);
  }
  if (d_W != nullptr) {
    MoveTileSums(pass);
    AddDescent(pass, d_W, d_w);
    d_w[pass.units] += sum;
  }
  return squares;
}

double RunReluDouble(const ReluPass<double>& pass, double* d_W, double* d_w) {
  return pass.c_h == nullptr ? RunTiles<false>(pass, d_W, d_w) : RunTiles<true>(pass, d_W, d_w);
}
double RunReluFloat(const ReluPass<float>& pass, double* d_W, double* d_w) {
  return RunTiles<false>(pass, d_W, d_w);
}

}  // namespace fathom::bnn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::bnn {

HWY_EXPORT(RunReluDouble);
HWY_EXPORT(RunReluFloat);

namespace {

double RunReluPass(const ReluPass<double>& pass, double* d_W, double* d_w) {
  return HWY_DYNAMIC_DISPATCH(RunReluDouble)(pass, d_W, d_w);
}
double RunReluPass(const ReluPass<float>& pass, double* d_W, double* d_w) {
  return HWY_DYNAMIC_DISPATCH(RunReluFloat)(pass, d_W, d_w);
}

// Rows X [rows, inputs] and their factors, or null.
template <typename T>
struct ReluInputs {
  Index rows;
  const T *X, *c_x, *c_h;
};

template <typename T>
double ReluResidualsOf(const Mlp& mlp, const ReluInputs<T>& in, const Vector& y, MlpTape* tape,
                       Vector* descent) {
  const MlpShape& shape = mlp.shape;
  FATHOM_CHECK(HasOneReluLayer(shape) && in.rows == y.size() &&
               mlp.weights.size() == shape.num_weights());
  constexpr Index kLanes = kWidestVector<T>;
  const Index inputs = shape.inputs();
  const Index units = shape.fan_out(0);
  const Index padded = (units + kLanes - 1) / kLanes * kLanes;
  auto& scratch = std::get<AlignedVector<T>>(tape->scratch);
  scratch.resize(static_cast<std::size_t>((2 * (inputs + 1) + 1 + kReluTileRows) * padded +
                                          kReluTileRows * (inputs + 2 * kLanes + 1)));
  tape->sums.resize(static_cast<std::size_t>((inputs + 1) * padded));
  T* end = scratch.data();
  const auto take = [&end](Index size) { return std::exchange(end, end + size); };
  const ReluPass<T> pass{.rows = in.rows,
                         .inputs = inputs,
                         .units = units,
                         .padded = padded,
                         .X = in.X,
                         .y = y.data(),
                         .W = mlp.weights.data() + shape.offset(0),
                         .w = mlp.weights.data() + shape.offset(1),
                         .c_x = in.c_x,
                         .c_h = in.c_h,
                         .packed_W = take((inputs + 1) * padded),
                         .tile_S = take((inputs + 1) * padded),
                         .S = tape->sums.data(),
                         .packed_w = take(padded),
                         .kept = take(kReluTileRows * padded),
                         .x = take(kReluTileRows * inputs),
                         .c_last = take(kReluTileRows * kLanes),
                         .f_lanes = take(kReluTileRows * kLanes),
                         .r = take(kReluTileRows)};
  double* const d_W = descent == nullptr ? nullptr : descent->data();
  double* const d_w = descent == nullptr ? nullptr : d_W + shape.offset(1);
  return RunReluPass(pass, d_W, d_w);
}

}  // namespace

bool HasOneReluLayer(const MlpShape& shape) {
  return shape.num_layers() == 2 && shape.activation() == Activation::kRelu;
}

double ReluResiduals(const Mlp& mlp, const Matrix& X, const Vector& y, MlpTape* tape,
                     Vector* descent, const InputFactors* factors) {
  FATHOM_CHECK(X.cols() == mlp.shape.inputs());
  if (factors == nullptr)
    return ReluResidualsOf<double>(mlp, {X.rows(), X.data(), nullptr, nullptr}, y, tape, descent);
  FATHOM_CHECK(factors->size() == 2);
  const Matrix& c_x = factors->at(0);
  const Matrix& c_h = factors->at(1);
  FATHOM_CHECK(c_x.rows() == X.rows() && c_x.cols() == X.cols() && c_h.rows() == X.rows() &&
               c_h.cols() == mlp.shape.fan_out(0));
  return ReluResidualsOf<double>(mlp, {X.rows(), X.data(), c_x.data(), c_h.data()}, y, tape,
                                 descent);
}

double ReluResiduals(const Mlp& mlp, const SingleMatrix& X, const Vector& y, MlpTape* tape,
                     Vector* descent) {
  FATHOM_CHECK(X.cols() == mlp.shape.inputs());
  return ReluResidualsOf<float>(mlp, {X.rows(), X.data(), nullptr, nullptr}, y, tape, descent);
}

}  // namespace fathom::bnn
#endif  // HWY_ONCE
