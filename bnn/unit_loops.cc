#include "bnn/unit_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bnn/unit_loops.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "fathom/base/simd_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::bnn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class Body>
HWY_INLINE Index Advance(D d, Index i, Index width, const Body& body) {
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (; i + lanes <= width; i += lanes) body(d, i);
  return i;
}

// Calls body(d, i) for the units i to i + Lanes(d) - 1, with ever shorter vectors.
template <class Body>
HWY_INLINE void ForUnits(Index width, const Body& body) {
  Index i = Advance(hn::CappedTag<double, 8>(), 0, width, body);
  i = Advance(hn::CappedTag<double, 2>(), i, width, body);
  Advance(hn::CappedTag<double, 1>(), i, width, body);
}

void RectifyAll(const UnitShape& shape, double* HWY_RESTRICT h) {
  for (Index n = 0; n < shape.rows; ++n) {
    double* const row = h + n * shape.h_stride;
    ForUnits(shape.width, [&](auto d, Index i) HWY_ATTR {
      const auto a = hn::LoadU(d, row + i);
      hn::StoreU(fathom::HWY_NAMESPACE::NotBelow(d, hn::Zero(d), a), d, row + i);
    });
  }
}

void RectifyBackwardAll(const UnitShape& shape, const double* HWY_RESTRICT h,
                        double* HWY_RESTRICT d_h) {
  for (Index n = 0; n < shape.rows; ++n) {
    const double* const row = h + n * shape.h_stride;
    double* const d_row = d_h + n * shape.width;
    ForUnits(shape.width, [&](auto d, Index i) HWY_ATTR {
      const auto on = hn::Gt(hn::LoadU(d, row + i), hn::Zero(d));
      hn::StoreU(hn::IfThenElseZero(on, hn::LoadU(d, d_row + i)), d, d_row + i);
    });
  }
}

void RectifyOuterAll(const UnitShape& shape, const double* HWY_RESTRICT d_f,
                     const double* HWY_RESTRICT w, const double* HWY_RESTRICT h,
                     double* HWY_RESTRICT d_h) {
  for (Index n = 0; n < shape.rows; ++n) {
    const double* const row = h + n * shape.h_stride;
    double* const d_row = d_h + n * shape.width;
    ForUnits(shape.width, [&](auto d, Index i) HWY_ATTR {
      const auto on = hn::Gt(hn::LoadU(d, row + i), hn::Zero(d));
      const auto product = hn::Mul(hn::Set(d, d_f[n]), hn::LoadU(d, w + i));
      hn::StoreU(hn::IfThenElseZero(on, product), d, d_row + i);
    });
  }
}

constexpr double kLeastSd = 1e-12;  // of a pre-activation: it is divided by

template <bool kRectify>
void DrawLocalRows(const LocalUnits& units, double* HWY_RESTRICT h, double* HWY_RESTRICT squares,
                   double* HWY_RESTRICT ratio) {
  const UnitShape& shape = units.shape;
  for (Index m = 0; m < units.moment_rows; ++m) {
    const double* const mean = units.mean + m * shape.width;
    const double* const var = units.var + m * shape.width;
    ForUnits(shape.width, [&](auto d, Index i) HWY_ATTR {
      const auto mu = hn::LoadU(d, mean + i);
      const auto sd = hn::Max(hn::Sqrt(hn::LoadU(d, var + i)), hn::Set(d, kLeastSd));
      const auto inverse = hn::Div(hn::Set(d, 1.0), sd);
      for (Index n = m; n < shape.rows; n += units.moment_rows) {
        const auto noise = hn::LoadU(d, units.eps + n * shape.width + i);
        auto a = hn::MulAdd(sd, noise, mu);
        if (kRectify) a = fathom::HWY_NAMESPACE::NotBelow(d, hn::Zero(d), a);
        hn::StoreU(a, d, h + n * shape.h_stride + i);
        hn::StoreU(hn::Mul(a, a), d, squares + n * shape.h_stride + i);
        hn::StoreU(hn::Mul(noise, inverse), d, ratio + n * shape.width + i);
      }
    });
  }
}

void DrawLocalAll(const LocalUnits& units, bool rectify, double* h, double* squares,
                  double* ratio) {
  if (rectify) {
    DrawLocalRows<true>(units, h, squares, ratio);
  } else {
    DrawLocalRows<false>(units, h, squares, ratio);
  }
}

template <Slope kSlope, class D, class V = hn::Vec<D>>
HWY_INLINE V TimesSlope(D d, V h, V x) {
  if constexpr (kSlope == Slope::kRelu) return hn::IfThenElseZero(hn::Gt(h, hn::Zero(d)), x);
  return hn::Mul(x, hn::NegMulAdd(h, h, hn::Set(d, 1.0)));
}

template <Slope kSlope>
void LocalBackwardRows(const DrawnUnits& units, const double* HWY_RESTRICT d_mean,
                       const double* HWY_RESTRICT d_h2, double* HWY_RESTRICT d_a,
                       double* HWY_RESTRICT e) {
  const UnitShape& shape = units.shape;
  const double* HWY_RESTRICT const h = units.h;
  const double* HWY_RESTRICT const ratio = units.ratio;
  for (Index n = 0; n < shape.rows; ++n) {
    const double* const h_row = h + n * shape.h_stride;
    const Index row = n * shape.width;
    ForUnits(shape.width, [&](auto d, Index i) HWY_ATTR {
      const auto at = hn::LoadU(d, h_row + i);
      const auto d_h = hn::MulAdd(hn::LoadU(d, d_h2 + row + i), at, hn::LoadU(d, d_mean + row + i));
      const auto slopes = TimesSlope<kSlope>(d, at, d_h);
      hn::StoreU(slopes, d, d_a + row + i);
      hn::StoreU(hn::Mul(slopes, hn::LoadU(d, ratio + row + i)), d, e + row + i);
    });
  }
}

template <Slope kSlope>
void LocalOutputRows(const DrawnUnits& units, const LocalOutput& output, double* HWY_RESTRICT d_a,
                     double* HWY_RESTRICT e) {
  const UnitShape& shape = units.shape;
  const double* HWY_RESTRICT const h = units.h;
  const double* HWY_RESTRICT const ratio = units.ratio;
  for (Index n = 0; n < shape.rows; ++n) {
    const double* const h_row = h + n * shape.h_stride;
    const Index row = n * shape.width;
    ForUnits(shape.width, [&](auto d, Index i) HWY_ATTR {
      const auto at = hn::LoadU(d, h_row + i);
      const auto by_var =
          hn::Mul(hn::Set(d, output.e_f[n]), hn::Mul(hn::LoadU(d, output.var + i), at));
      const auto d_h = hn::MulAdd(hn::Set(d, output.d_f[n]), hn::LoadU(d, output.mu + i), by_var);
      const auto slopes = TimesSlope<kSlope>(d, at, d_h);
      hn::StoreU(slopes, d, d_a + row + i);
      hn::StoreU(hn::Mul(slopes, hn::LoadU(d, ratio + row + i)), d, e + row + i);
    });
  }
}

void LocalBackwardAll(const DrawnUnits& units, const double* d_mean, const double* d_h2, double* d,
                      double* e) {
  if (units.slope == Slope::kRelu) {
    LocalBackwardRows<Slope::kRelu>(units, d_mean, d_h2, d, e);
  } else {
    LocalBackwardRows<Slope::kTanh>(units, d_mean, d_h2, d, e);
  }
}

void LocalOutputAll(const DrawnUnits& units, const LocalOutput& output, double* d, double* e) {
  if (units.slope == Slope::kRelu) {
    LocalOutputRows<Slope::kRelu>(units, output, d, e);
  } else {
    LocalOutputRows<Slope::kTanh>(units, output, d, e);
  }
}

}  // namespace fathom::bnn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::bnn {

HWY_EXPORT(RectifyAll);
HWY_EXPORT(RectifyBackwardAll);
HWY_EXPORT(RectifyOuterAll);
HWY_EXPORT(DrawLocalAll);
HWY_EXPORT(LocalBackwardAll);
HWY_EXPORT(LocalOutputAll);

void Rectify(const UnitShape& shape, double* h) { HWY_DYNAMIC_DISPATCH(RectifyAll)(shape, h); }

void RectifyBackward(const UnitShape& shape, const double* h, double* d) {
  HWY_DYNAMIC_DISPATCH(RectifyBackwardAll)(shape, h, d);
}

void RectifyOuter(const UnitShape& shape, const double* d_f, const double* w, const double* h,
                  double* d) {
  HWY_DYNAMIC_DISPATCH(RectifyOuterAll)(shape, d_f, w, h, d);
}

void DrawLocalUnits(const LocalUnits& units, bool rectify, double* h, double* squares,
                    double* ratio) {
  HWY_DYNAMIC_DISPATCH(DrawLocalAll)(units, rectify, h, squares, ratio);
}

void LocalUnitsBackward(const DrawnUnits& units, const double* d_mean, const double* d_h2,
                        double* d, double* e) {
  HWY_DYNAMIC_DISPATCH(LocalBackwardAll)(units, d_mean, d_h2, d, e);
}

void LocalUnitsBackward(const DrawnUnits& units, const LocalOutput& output, double* d, double* e) {
  HWY_DYNAMIC_DISPATCH(LocalOutputAll)(units, output, d, e);
}

}  // namespace fathom::bnn
#endif  // HWY_ONCE
