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

// 2^x = 2^(i/kParts) 2^r, where i is the integer nearest to kParts x. Adding `Magic` to x rounds it
// so: the lowest bits of the sum are then i. With registers of 64 bytes one of them holds
// 2^(j/kParts) for all j < kParts, and 2^r - 1 = r p(r) needs a p of degree 6 (single precision: 2)
// instead of 10 (5); each has a relative error below 2e-17 (1e-8). The tables hold the bits of
// 2^(j/kParts) less those of j / kParts in the exponent, so that adding the bits of i to an entry
// makes it 2^(i/kParts).
template <class D>
struct Exp2Parts {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using Bits = hn::RebindToSigned<D>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  static constexpr bool kTable = hn::MaxLanes(D()) * sizeof(T) == 64;
#else
  static constexpr bool kTable = false;
#endif

  static HWY_INLINE V Magic(D d) {
    if constexpr (sizeof(T) == 8)
      return hn::Set(d, kTable ? 0x1.8p49 : 0x1.8p52 + 1023);
    else
      return hn::Set(d, kTable ? 0x1.8p19F : 0x1.8p23F + 127);
  }

  // 2^(i/kParts) (1 + r p(r)), i in the lowest bits of `shifted`.
  static HWY_INLINE V Compose(D d, V shifted, V r) {
    const Bits bits;
    const V slope = Slope(d, r);
    const auto i = hn::BitCast(bits, shifted);
    if constexpr (kTable) {
      constexpr int kFractionBits = sizeof(T) == 8 ? 3 : 4;
      constexpr int kShift = (sizeof(T) == 8 ? 52 : 23) - kFractionBits;
      const auto j = hn::And(i, hn::Set(bits, (1 << kFractionBits) - 1));
      const auto entry = hn::TableLookupLanes(Table(bits), hn::IndicesFromVec(bits, j));
      const V scale = hn::BitCast(d, hn::Add(entry, hn::ShiftLeft<kShift>(i)));
      return hn::MulAdd(scale, hn::Mul(r, slope), scale);
    } else {
      constexpr int kShift = sizeof(T) == 8 ? 52 : 23;
      const V scale = hn::BitCast(d, hn::ShiftLeft<kShift>(i));
      return hn::Mul(hn::MulAdd(r, slope, hn::Set(d, T{1})), scale);
    }
  }

 private:
  static HWY_INLINE auto Table(Bits bits) {
    if constexpr (sizeof(T) == 8) {
      HWY_ALIGN static constexpr std::int64_t kEntries[8] = {
          0x3ff0000000000000, 0x3fef72b83c7d517b, 0x3fef06fe0a31b715, 0x3feebfdad5362a27,
          0x3feea09e667f3bcd, 0x3feeace5422aa0db, 0x3feee89f995ad3ad, 0x3fef5818dcfba487};
      return hn::Load(bits, kEntries);
    } else {
      HWY_ALIGN static constexpr std::int32_t kEntries[16] = {
          0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3, 0x3f7837f0, 0x3f76f532,
          0x3f75fed7, 0x3f75583f, 0x3f7504f3, 0x3f7508a4, 0x3f75672a, 0x3f76248c,
          0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d};
      return hn::Load(bits, kEntries);
    }
  }

  // p(r), by Estrin's scheme: short chains instead of one long one.
  static HWY_INLINE V Slope(D d, V r) {
    const auto line = [&](auto constant, auto slope) {
      return hn::MulAdd(r, hn::Set(d, slope), hn::Set(d, constant));
    };
    const V r2 = hn::Mul(r, r);
    if constexpr (sizeof(T) == 8 && kTable) {
      const V p01 = line(0x1.62e42fefa39efp-1, 0x1.ebfbdff82c6c5p-3);
      const V p23 = line(0x1.c6b08d704a11fp-5, 0x1.3b2ab6f1f1910p-7);
      const V p45 = line(0x1.5d87fe72ac65ep-10, 0x1.430deca12d584p-13);
      const V p46 = hn::MulAdd(r2, hn::Set(d, 0x1.ffd1f6633bd3ap-17), p45);
      return hn::MulAdd(r2, hn::MulAdd(r2, p46, p23), p01);
    } else if constexpr (sizeof(T) == 8) {
      const V r4 = hn::Mul(r2, r2);
      const V p01 = line(0x1.62e42fefa39efp-1, 0x1.ebfbdff82c598p-3);
      const V p23 = line(0x1.c6b08d704a0c2p-5, 0x1.3b2ab6fba1ddap-7);
      const V p45 = line(0x1.5d87fe78a5276p-10, 0x1.430913096fd9fp-13);
      const V p67 = line(0x1.ffcbfc670dcd4p-17, 0x1.62bfd47773353p-20);
      const V p89 = line(0x1.b524fae627834p-24, 0x1.e6063f7217bc6p-28);
      const V p03 = hn::MulAdd(r2, p23, p01);
      const V p47 = hn::MulAdd(r2, p67, p45);
      const V p8A = hn::MulAdd(r2, hn::Set(d, 0x1.e9d3fe3952179p-32), p89);
      return hn::MulAdd(r4, hn::MulAdd(r4, p8A, p47), p03);
    } else if constexpr (kTable) {
      return hn::MulAdd(r2, hn::Set(d, 0x1.c6b29ap-5F), line(0x1.62e430p-1F, 0x1.ebff92p-3F));
    } else {
      const V p01 = line(0x1.62e430p-1F, 0x1.ebfbe0p-3F);
      const V p23 = line(0x1.c6af6cp-5F, 0x1.3b2a54p-7F);
      const V p45 = line(0x1.5f0890p-10F, 0x1.44138ap-13F);
      return hn::MulAdd(r2, hn::MulAdd(r2, p45, p23), p01);
    }
  }
};

// 2^x for x <= 1009 (single precision: 127). Max error 1.7 ulp (1.2 with a fused
// multiply-add; single: 1.5; tested). x < -1021 gives
// about 4e-308 instead of a denormal or 0, which no sum of kernel values can tell apart; in single
// precision x < -65 gives 3e-20: next to a kernel value near 1 that is nothing, and its products do
// not become denormal, which would cost a hundred cycles each. NaN gives NaN (Highway 1.0.3's own
// Exp gives 0, which would hide a divergence).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp2(D d, V x) {
  using Parts = Exp2Parts<D>;
  x = NotBelow(d, hn::Set(d, static_cast<hn::TFromD<D>>(sizeof(hn::TFromD<D>) == 8 ? -1021 : -65)),
               x);
  const V shifted = hn::Add(x, Parts::Magic(d));
  return Parts::Compose(d, shifted, hn::Sub(x, hn::Sub(shifted, Parts::Magic(d))));
}

// The same of exp(x) in double precision, for x <= 700.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D d, V x) {
  using Parts = Exp2Parts<D>;
  constexpr double kLog2E = 0x1.71547652b82fep0;
  x = NotBelow(d, hn::Set(d, -708.0), x);
  const V shifted = hn::MulAdd(x, hn::Set(d, kLog2E), Parts::Magic(d));
  const V n = hn::Sub(shifted, Parts::Magic(d));
  // ln2 in two parts, the first short enough that n times it is exact: targets without a fused
  // multiply-add would lose 9 bits of r otherwise.
  V r = hn::NegMulAdd(n, hn::Set(d, 0x1.62e42fefa38p-1), x);
  r = hn::NegMulAdd(n, hn::Set(d, 0x1.ef35793c7673p-45), r);
  return Parts::Compose(d, shifted, hn::Mul(r, hn::Set(d, kLog2E)));
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
// NOLINTEND(llvm-header-guard)
