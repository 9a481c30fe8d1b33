#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/random.h"
#include "tests/support/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/base/simd_exp_test.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "fathom/base/simd_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {

// The vector exponential of all of x, whose size is a multiple of kSimdPadding.
void ExpOf(const double* x, double* out, Index size) {
  const hn::CappedTag<double, kSimdPadding> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < size; i += lanes) hn::Store(Exp(d, hn::Load(d, x + i)), d, out + i);
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {
HWY_EXPORT(ExpOf);
namespace {

AlignedBuffer VectorExp(const std::vector<double>& x) {
  const auto padded = static_cast<std::size_t>(PaddedSize(static_cast<Index>(x.size())));
  AlignedBuffer in(padded, 0.0);
  AlignedBuffer out(padded, -1.0);
  std::copy(x.begin(), x.end(), in.begin());
  HWY_DYNAMIC_DISPATCH(ExpOf)(in.data(), out.data(), static_cast<Index>(padded));
  return out;
}

// Error in units of the last place of the exact result.
double Ulps(double got, double x) {
  const long double exact = std::exp(static_cast<long double>(x));
  const auto rounded = static_cast<double>(exact);
  const double ulp = std::nextafter(rounded, std::numeric_limits<double>::infinity()) - rounded;
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / ulp);
}

TEST(SimdExp, WithinItsPromise) {
  RandomStream stream(1);
  std::vector<double> x;
  for (int i = 0; i < 40000; ++i) {
    x.push_back(-700 * stream.Uniform());
    x.push_back(700 * stream.Uniform());
    x.push_back(2 * stream.Uniform() - 1);
    x.push_back(1e-8 * stream.Normal());
  }
  for (int n = -1009; n <= 1009; ++n) {  // where the reduction changes from one n to the next
    const double edge = (n + 0.5) * std::log(2.0);
    x.insert(x.end(),
             {edge, std::nextafter(edge, 1e9), std::nextafter(edge, -1e9), n * std::log(2.0)});
  }
  x.insert(x.end(), {0.0, -0.0, 1e-300, -1e-300, 1.0, -1.0, 700.0, -700.0, -707.9});
  ForEachSimdTarget([&] {
    const AlignedBuffer out = VectorExp(x);
    double worst = 0;
    double worst_at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = Ulps(out[i], x[i]);
      if (!(error <= worst)) {
        worst = error;
        worst_at = x[i];
      }
    }
    EXPECT_LE(worst, 1.2) << "at " << worst_at;
  });
}

TEST(SimdExp, ExactAtZero) {
  ForEachSimdTarget([] { EXPECT_EQ(VectorExp({0.0})[0], 1.0); });
}

TEST(SimdExp, NotANumberStaysNotANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ForEachSimdTarget([&] {
    for (std::size_t lane = 0; lane < 8; ++lane) {
      std::vector<double> x(8, -1.5);
      x[lane] = lane % 2 == 0 ? nan : -nan;
      const AlignedBuffer out = VectorExp(x);
      for (std::size_t i = 0; i < 8; ++i)
        EXPECT_EQ(std::isnan(out[i]), i == lane) << lane << ' ' << i;
    }
  });
}

TEST(SimdExp, VeryNegativeIsTinyAndNotNegative) {
  const std::vector<double> x = {
      -708, -709, -745, -1e4, -1e100, -1e308, -std::numeric_limits<double>::infinity()};
  ForEachSimdTarget([&] {
    const AlignedBuffer out = VectorExp(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_GE(out[i], 0) << x[i];
      EXPECT_LE(out[i], 4e-308) << x[i];
    }
  });
}

}  // namespace
}  // namespace fathom
#endif  // HWY_ONCE
