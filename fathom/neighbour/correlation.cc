#include "fathom/neighbour/correlation.h"

#include <algorithm>

#include "fathom/base/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/neighbour/correlation.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "fathom/neighbour/correlation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {

// c of each r2, in its place. The last numbers go through a vector that is filled up.
template <Correlation kKind>
void CorrelateAll(double* r2, Index count) {
  const hn::CappedTag<double, static_cast<std::size_t>(kSimdPadding)> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<decltype(d)> slope;
  Index i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(Correlate<kKind>(d, hn::LoadU(d, r2 + i), &slope), d, r2 + i);
  if (i == count) return;
  HWY_ALIGN double rest[hn::MaxLanes(d)] = {};
  std::copy(r2 + i, r2 + count, rest);
  hn::Store(Correlate<kKind>(d, hn::Load(d, rest), &slope), d, rest);
  std::copy_n(rest, count - i, r2 + i);
}

void RunCorrelations(Correlation correlation, double* r2, Index count) {
  switch (correlation) {
    case Correlation::kMatern12:
      return CorrelateAll<Correlation::kMatern12>(r2, count);
    case Correlation::kMatern32:
      return CorrelateAll<Correlation::kMatern32>(r2, count);
    case Correlation::kMatern52:
      return CorrelateAll<Correlation::kMatern52>(r2, count);
    case Correlation::kSe:
      return CorrelateAll<Correlation::kSe>(r2, count);
  }
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

namespace {
HWY_EXPORT(RunCorrelations);
}  // namespace

void CorrelationsOf(Correlation correlation, Matrix* r2) {
  HWY_DYNAMIC_DISPATCH(RunCorrelations)(correlation, r2->data(), r2->size());
}

}  // namespace fathom
#endif  // HWY_ONCE
