// The correlations of neighbours for the SIMD loops. Included once per target, after hwy/highway.h.
// NOLINTBEGIN(llvm-header-guard)
#if defined(FATHOM_NEIGHBOUR_CORRELATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_NEIGHBOUR_CORRELATION_INL_H_
#undef FATHOM_NEIGHBOUR_CORRELATION_INL_H_
#else
#define FATHOM_NEIGHBOUR_CORRELATION_INL_H_
#endif

#include <hwy/highway.h>

#include "fathom/base/simd_exp-inl.h"
#include "fathom/neighbour/correlation.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// c(r2), and *slope = dc / dr2. Matern 1/2 has no slope at 0; it counts only times r2, which is 0.
template <Correlation kKind, class D, class V = hn::Vec<D>>
HWY_INLINE V Correlate(D d, V r2, V* slope) {
  using T = hn::TFromD<D>;
  const auto set = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); };
  const auto exp = [d](V x) HWY_ATTR {
    if constexpr (sizeof(T) == 8) {
      return Exp(d, x);
    } else {
      return Exp2(d, hn::Mul(x, hn::Set(d, 1.44269504F)));
    }
  };
  const V one = set(1.0);
  if constexpr (kKind == Correlation::kSe) {
    const V c = exp(hn::Mul(set(-0.5), r2));
    *slope = hn::Mul(set(-0.5), c);
    return c;
  } else if constexpr (kKind == Correlation::kMatern12) {
    const V r = hn::Sqrt(r2);
    const V c = exp(hn::Neg(r));
    *slope = hn::Div(hn::Mul(set(-0.5), c), hn::Max(r, set(sizeof(T) == 8 ? 1e-150 : 1e-30)));
    return c;
  } else if constexpr (kKind == Correlation::kMatern32) {
    const V r = hn::Sqrt(hn::Mul(set(3.0), r2));
    const V e = exp(hn::Neg(r));
    *slope = hn::Mul(set(-1.5), e);
    return hn::Mul(hn::Add(one, r), e);
  } else {
    const V r = hn::Sqrt(hn::Mul(set(5.0), r2));
    const V e = exp(hn::Neg(r));
    *slope = hn::Mul(hn::Mul(set(-5.0 / 6), hn::Add(one, r)), e);
    return hn::Mul(hn::MulAdd(hn::Mul(r, r), set(1.0 / 3), hn::Add(one, r)), e);
  }
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
// NOLINTEND(llvm-header-guard)
