#include "bnn/thin_products.h"

#include "fathom/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bnn/thin_products.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "bnn/thin_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::bnn::HWY_NAMESPACE {

// Calls visit(j, begin) for vectors of units from j on. The last one may overlap the one before;
// its units are new from `begin` on.
template <class Visit>
HWY_INLINE void ForUnitVectors(Index units, const Visit& visit) {
  const Index lanes = UnitLanes<double>();
  for (Index j = 0; j < units; j += lanes) visit(std::min(j, units - lanes), j);
}

constexpr Index kPackedSize = kMostThinCols * kSimdPadding;

void TimesTransposedThin(const ThinRows<double>& A, const double* B, Index b_stride, Index units,
                         double* HWY_RESTRICT C, Index c_stride) {
  HWY_ALIGN double packed[kPackedSize];
  const auto zero = hn::Zero(Units<double>());
  ForUnitVectors(units, [&](Index j, Index /*begin*/) HWY_ATTR {
    PackUnits(B + j * b_stride, UnitLanes<double>(), A.cols, b_stride, packed);
    const auto store = [=](Index n, const UnitVector<double>* sum)
                           HWY_ATTR { hn::StoreU(*sum, Units<double>(), C + n * c_stride + j); };
    ThinForward<1, double>(A, {packed, 0}, &zero, store);
  });
}

void AddOuterProductsThin(const double* HWY_RESTRICT D, Index d_stride, Index units,
                          const ThinRows<double>& A, double* HWY_RESTRICT C, Index c_stride) {
  HWY_ALIGN double sums[kPackedSize];
  const Index lanes = UnitLanes<double>();
  ForUnitVectors(units, [&](Index j, Index begin) HWY_ATTR {
    std::fill_n(sums, A.cols * lanes, 0.0);
    ThinBackward<false>(
        A, [=](Index n) HWY_ATTR { return hn::LoadU(Units<double>(), D + n * d_stride + j); },
        sums);
    for (Index unit = begin; unit < j + lanes; ++unit) {
      for (Index i = 0; i < A.cols; ++i) C[unit * c_stride + i] += sums[i * lanes + unit - j];
    }
  });
}

}  // namespace fathom::bnn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::bnn {

HWY_EXPORT(TimesTransposedThin);
HWY_EXPORT(AddOuterProductsThin);

namespace {

static_assert(kLeastThinUnits >= kSimdPadding);

bool IsThin(Index cols, Index units) {
  return cols >= 1 && cols <= kMostThinCols && units >= kLeastThinUnits;
}

ThinRows<double> Thin(const MatrixPart& A) {
  return {A.rows(), A.cols(), A.outerStride(), A.data()};
}

}  // namespace

void TimesTransposed(const MatrixPart& A, const MatrixPart& B, MutablePart C) {
  FATHOM_CHECK(A.cols() == B.cols() && C.rows() == A.rows() && C.cols() == B.rows());
  if (!IsThin(A.cols(), B.rows())) return SetTimesTransposed(A, B, C);
  HWY_DYNAMIC_DISPATCH(TimesTransposedThin)
  (Thin(A), B.data(), B.outerStride(), B.rows(), C.data(), C.outerStride());
}

void AddOuterProducts(const MatrixPart& D, const MatrixPart& A, MutablePart C) {
  FATHOM_CHECK(D.rows() == A.rows() && C.rows() == D.cols() && C.cols() == A.cols());
  if (!IsThin(A.cols(), D.cols())) return AddTransposedTimes(D, A, C);
  HWY_DYNAMIC_DISPATCH(AddOuterProductsThin)
  (D.data(), D.outerStride(), D.cols(), Thin(A), C.data(), C.outerStride());
}

}  // namespace fathom::bnn
#endif  // HWY_ONCE
