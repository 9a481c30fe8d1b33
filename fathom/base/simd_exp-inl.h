// Vector exponential for the SIMD loops. Included once per target, after hwy/highway.h, between
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE.
// NOLINTBEGIN(llvm-header-guard)
#if defined(FATHOM_BASE_SIMD_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_BASE_SIMD_EXP_INL_H_
#undef FATHOM_BASE_SIMD_EXP_INL_H_
#else
#define FATHOM_BASE_SIMD_EXP_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// x, but not below `least`; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V NotBelow(D /*d*/, V least, V x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  // The order of arguments matters: x86's max returns the second one when either is NaN.
  return hn::Max(least, x);
#else
  return hn::IfThenElse(hn::Lt(x, least), least, x);
#endif
}

// exp(x) for x <= 700. Max error 1.2 ulp (tested). x < -708 gives about 3e-308 instead of a
// denormal or 0, which no sum of kernel values can tell apart. NaN gives NaN (Highway 1.0.3's own
// Exp gives 0, which would hide a divergence).
//   x = n ln2 + r,  |r| <= ln2/2,  exp(r) = 1 + r + r^2 q(r),
// with a near-minimax q of degree 9 (relative error 2e-17).
template <class D, class V = hn::Vec<D>>
requires(sizeof(hn::TFromD<D>) == 8) HWY_INLINE V Exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  // Adding this rounds to an integer; the lowest bits are then n + 1023, the exponent of 2^n.
  const V round_magic = hn::Set(d, 0x1.8p52 + 1023);
  x = NotBelow(d, hn::Set(d, -708.0), x);
  const V shifted = hn::MulAdd(x, hn::Set(d, 0x1.71547652b82fep0), round_magic);
  const V n = hn::Sub(shifted, round_magic);
  // ln2 in two parts, the first short enough that n times it is exact: targets without a fused
  // multiply-add would lose 9 bits of r otherwise.
  V r = hn::NegMulAdd(n, hn::Set(d, 0x1.62e42fefa38p-1), x);
  r = hn::NegMulAdd(n, hn::Set(d, 0x1.ef35793c7673p-45), r);
  // Estrin's scheme: three short chains instead of one long one.
  const V r2 = hn::Mul(r, r);
  const V r4 = hn::Mul(r2, r2);
  const V q01 = hn::MulAdd(r, hn::Set(d, 0x1.5555555555556p-3), hn::Set(d, 0.5));
  const V q23 = hn::MulAdd(r, hn::Set(d, 0x1.11111111109b3p-7), hn::Set(d, 0x1.5555555553d63p-5));
  const V q45 = hn::MulAdd(r, hn::Set(d, 0x1.a01a01a7c41d5p-13), hn::Set(d, 0x1.6c16c1788bd90p-10));
  const V q67 = hn::MulAdd(r, hn::Set(d, 0x1.71de0dae63bb3p-19), hn::Set(d, 0x1.a019b90d2ae7ap-16));
  const V q89 = hn::MulAdd(r, hn::Set(d, 0x1.af38a9b0ec855p-26), hn::Set(d, 0x1.289185613a3d6p-22));
  const V q03 = hn::MulAdd(r2, q23, q01);
  const V q47 = hn::MulAdd(r2, q67, q45);
  const V q49 = hn::MulAdd(r4, q89, q47);
  const V q = hn::MulAdd(r4, q49, q03);
  const V p = hn::Add(hn::MulAdd(r2, q, r), hn::Set(d, 1.0));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(di, shifted))));
}

// The same in single precision, for x <= 88. Max error 1.5 ulp (tested). x < -45 gives 3e-20: next
// to a kernel value near 1 that is nothing, and its products do not become denormal, which would
// cost a hundred cycles each. q has degree 4 (relative error 1e-8).
template <class D, class V = hn::Vec<D>>
requires(sizeof(hn::TFromD<D>) == 4) HWY_INLINE V Exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V round_magic = hn::Set(d, 0x1.8p23F + 127);
  x = NotBelow(d, hn::Set(d, -45.0F), x);
  const V shifted = hn::MulAdd(x, hn::Set(d, 0x1.715476p0F), round_magic);
  const V n = hn::Sub(shifted, round_magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 0x1.62p-1F), x);
  r = hn::NegMulAdd(n, hn::Set(d, 0x1.c85fe0p-10F), r);
  const V r2 = hn::Mul(r, r);
  const V q01 = hn::MulAdd(r, hn::Set(d, 0x1.5554dep-3F), hn::Set(d, 0.5F));
  const V q23 = hn::MulAdd(r, hn::Set(d, 0x1.120b62p-7F), hn::Set(d, 0x1.55551ap-5F));
  const V q24 = hn::MulAdd(r2, hn::Set(d, 0x1.6d10fcp-10F), q23);
  const V q = hn::MulAdd(r2, q24, q01);
  const V p = hn::Add(hn::MulAdd(r2, q, r), hn::Set(d, 1.0F));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
// NOLINTEND(llvm-header-guard)
