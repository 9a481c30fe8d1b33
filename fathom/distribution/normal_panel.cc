#include "fathom/distribution/normal_panel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/distribution/normal_panel.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "fathom/base/simd_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Double = hn::CappedTag<double, 8>;
using V = hn::Vec<Double>;

constexpr double kRootTwoPi = 0x1.40d931ff62706p1;
constexpr double kHalfLogTwoPi = 0x1.d67f1c864beb5p-1;

HWY_INLINE V Constant(double x) { return hn::Set(Double(), x); }

// sum_k c_k x^k of an even number of coefficients: those of even and of odd k in two chains.
template <std::size_t N>
HWY_INLINE V Polynomial(const double (&c)[N], V x) {
  static_assert(N % 2 == 0);
  const V square = hn::Mul(x, x);
  V even = Constant(c[N - 2]);
  V odd = Constant(c[N - 1]);
  for (std::size_t k = N - 2; k > 0; k -= 2) {
    even = hn::MulAdd(even, square, Constant(c[k - 2]));
    odd = hn::MulAdd(odd, square, Constant(c[k - 1]));
  }
  return hn::MulAdd(odd, x, even);
}

// Mills' ratio Phi(-x) / phi(x) for x >= 0: (1 + x) times it is smooth up to infinity, a
// polynomial in (x - 5) / (x + 5) to 3e-16 (interpolated at Chebyshev's points).
HWY_INLINE V MillsRatio(V x) {
  static constexpr double kCoefficients[] = {
      0x1.28273b50efa76p+0,   -0x1.d5fd8ffd0f1aap-3,  0x1.3e97eaf5f2f87p-4,
      0x1.9ac85788f58b1p-6,   -0x1.0f103e712ef39p-4,  0x1.f7d96e0d85ca6p-5,
      -0x1.37838b3a20ea3p-5,  0x1.0bd973acc40a7p-6,   -0x1.1355f4909ab39p-8,
      0x1.47ab73fc90055p-16,  0x1.df3ecb4614c01p-12,  -0x1.19cda437ebfdcp-13,
      -0x1.a02c43d08b1aap-16, 0x1.7d010b3c70d15p-16,  -0x1.7aabc20eeba8dp-23,
      -0x1.b7debee1da49ep-19, 0x1.582e3c1549ea5p-22,  0x1.082372888b676p-21,
      -0x1.1afe8a6a10e00p-24, -0x1.4d39d50792f0ep-24, 0x1.386a441084818p-27,
      0x1.7b0f1fc3805e3p-27,  -0x1.84e4459756919p-31, -0x1.06ea87375c5b4p-30};
  const V t = hn::Div(hn::Sub(x, Constant(5)), hn::Add(x, Constant(5)));
  return hn::Div(Polynomial(kCoefficients, t), hn::Add(x, Constant(1)));
}

// log(x) of a normal x > 0: x = 2^e (1 + f), f in [-0.29, 0.41], and log(1 + f) = 2 atanh(s),
// s = f / (2 + f). NaN stays NaN.
HWY_INLINE V Log(V x) {
  static constexpr double kCoefficients[] = {
      0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476b0bp-2, 0x1.c71c720185cc1p-3,
      0x1.745cf8f397214p-3, 0x1.3b1c38a856459p-3, 0x1.0fbe442b6ae60p-3, 0x1.0c06b55bb3efbp-3};
  const Double d;
  const hn::RebindToSigned<Double> bits;
  const auto root_half = hn::Set(bits, 0x3fe6a09e667f3bcd);
  const auto of_x = hn::BitCast(bits, x);
  // The exponent, as a number: its bits below those of 2^52 + 2^51.
  const auto magic = hn::Set(bits, 0x4338000000000000);
  const auto exponent = hn::ShiftRight<52>(hn::Sub(of_x, root_half));
  const V e = hn::Sub(hn::BitCast(d, hn::Add(exponent, magic)), hn::BitCast(d, magic));
  const V f = hn::Sub(hn::BitCast(d, hn::Sub(of_x, hn::ShiftLeft<52>(exponent))), Constant(1));
  const V s = hn::Div(f, hn::Add(f, Constant(2)));
  const V square = hn::Mul(s, s);
  const V rest = hn::Mul(hn::Mul(s, square), Polynomial(kCoefficients, square));
  // ln 2 in two parts, the first short enough that e times it is exact.
  const V small = hn::MulAdd(e, Constant(0x1.ef35793c7673p-45), hn::MulAdd(s, Constant(2), rest));
  const V log = hn::MulAdd(e, Constant(0x1.62e42fefa38p-1), small);
  return hn::IfThenElse(hn::IsNaN(x), x, log);
}

// exp(-x^2 / 2) / sqrt(2 pi), x >= 0. Beyond 37 it would be denormal, which is slow.
HWY_INLINE V Density(V x) {
  const Double d;
  const V near = hn::IfThenElse(hn::Gt(x, Constant(37)), Constant(37), x);
  return hn::Mul(Exp(d, hn::Mul(hn::Mul(near, near), Constant(-0.5))), Constant(1 / kRootTwoPi));
}

// What values of x have in common: below 0, Phi = phi times Mills' ratio; above, Phi = 1 - tail.
struct AtX {
  explicit AtX(V x)
      : below(hn::Lt(x, hn::Zero(Double()))),
        ratio(MillsRatio(hn::Abs(x))),
        phi(Density(hn::Abs(x))),
        tail(hn::Mul(phi, ratio)),
        rest(hn::Sub(Constant(1), tail)),
        slope(
            hn::Div(hn::IfThenElse(below, Constant(1), phi), hn::IfThenElse(below, ratio, rest))) {}

  hn::Mask<Double> below;
  V ratio, phi, tail, rest;
  V slope;  // phi / Phi
};

void NormalOf(const double* x, double* density, double* cdf, double* slope) {
  const Double d;
  for (std::size_t i = 0; i < kPanelNodes; i += hn::Lanes(d)) {
    const AtX at(hn::LoadU(d, x + i));
    hn::StoreU(at.phi, d, density + i);
    hn::StoreU(hn::IfThenElse(at.below, at.tail, at.rest), d, cdf + i);
    hn::StoreU(at.slope, d, slope + i);
  }
}

void LogNormalCdfOf(const double* x, double* value, double* slope, double* curvature) {
  const Double d;
  const V one = Constant(1);
  for (std::size_t i = 0; i < kPanelNodes; i += hn::Lanes(d)) {
    const V X = hn::LoadU(d, x + i);
    const AtX at(X);
    // Above 0 the logarithm takes the rounded 1 - tail, and `lost` makes up for the rounding.
    const V log = Log(hn::IfThenElse(at.below, at.ratio, at.rest));
    const V lost = hn::Div(hn::Sub(hn::Sub(one, at.rest), at.tail), at.rest);
    const V parabola = hn::MulAdd(hn::Mul(X, X), Constant(-0.5), Constant(-kHalfLogTwoPi));
    V bend = hn::Neg(hn::Mul(at.slope, hn::Add(X, at.slope)));
    const auto deep = hn::Lt(X, Constant(-12));
    if (!hn::AllFalse(d, deep)) {
      // The series of LogNormalCdf, which spares x + slope its cancellation.
      const V t = hn::Div(one, hn::Mul(X, X));
      V r = hn::Zero(d);
      for (int k = 16; k >= 1; --k) r = hn::Mul(hn::Mul(Constant(2 * k - 1), t), hn::Sub(one, r));
      const V series = hn::Mul(hn::Mul(at.slope, X), hn::Div(r, hn::Sub(one, r)));
      bend = hn::IfThenElse(deep, series, bend);
    }
    hn::StoreU(hn::Add(log, hn::IfThenElse(at.below, parabola, lost)), d, value + i);
    hn::StoreU(at.slope, d, slope + i);
    hn::StoreU(bend, d, curvature + i);
  }
}

void ExpOf(const double* x, double* out) {
  const Double d;
  for (std::size_t i = 0; i < kPanelNodes; i += hn::Lanes(d))
    hn::StoreU(Exp(d, hn::LoadU(d, x + i)), d, out + i);
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

HWY_EXPORT(NormalOf);
HWY_EXPORT(LogNormalCdfOf);
HWY_EXPORT(ExpOf);

NormalPanel::NormalPanel(const PanelValues& x) {
  HWY_DYNAMIC_DISPATCH(NormalOf)(x.data(), density.data(), cdf.data(), slope.data());
}

LogNormalCdfPanel::LogNormalCdfPanel(const PanelValues& x) {
  HWY_DYNAMIC_DISPATCH(LogNormalCdfOf)(x.data(), value.data(), slope.data(), curvature.data());
}

PanelValues ExpPanel(const PanelValues& x) {
  PanelValues out;
  HWY_DYNAMIC_DISPATCH(ExpOf)(x.data(), out.data());
  return out;
}

}  // namespace fathom
#endif  // HWY_ONCE
