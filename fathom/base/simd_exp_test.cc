#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
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

// The vector exponential of all of x, whose size is a multiple of kPadding.
template <typename T>
void ExpAll(const T* x, T* out, Index size) {
  const hn::CappedTag<T, 64 / sizeof(T)> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < size; i += lanes) hn::Store(Exp(d, hn::Load(d, x + i)), d, out + i);
}
void ExpDouble(const double* x, double* out, Index size) { ExpAll(x, out, size); }
void ExpFloat(const float* x, float* out, Index size) { ExpAll(x, out, size); }

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {
HWY_EXPORT(ExpDouble);
HWY_EXPORT(ExpFloat);
namespace {

template <typename T>
AlignedVector<T> VectorExp(const std::vector<T>& x) {
  const std::size_t padded = (x.size() + 15) / 16 * 16;
  AlignedVector<T> in(padded, 0);
  AlignedVector<T> out(padded, -1);
  std::copy(x.begin(), x.end(), in.begin());
  if constexpr (std::is_same_v<T, double>) {
    HWY_DYNAMIC_DISPATCH(ExpDouble)(in.data(), out.data(), static_cast<Index>(padded));
  } else {
    HWY_DYNAMIC_DISPATCH(ExpFloat)(in.data(), out.data(), static_cast<Index>(padded));
  }
  return out;
}

// Error in units of the last place of the exact result.
template <typename T>
double Ulps(T got, T x) {
  const long double exact = std::exp(static_cast<long double>(x));
  const auto rounded = static_cast<T>(exact);
  const T ulp = std::nextafter(rounded, std::numeric_limits<T>::infinity()) - rounded;
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / ulp);
}

template <typename T>
void ExpectWithin(double ulps, const std::vector<T>& x) {
  ForEachSimdTarget([&] {
    const AlignedVector<T> out = VectorExp(x);
    double worst = 0;
    T worst_at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = Ulps(out[i], x[i]);
      if (!(error <= worst)) {
        worst = error;
        worst_at = x[i];
      }
    }
    EXPECT_LE(worst, ulps) << "at " << worst_at;
  });
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
  ExpectWithin(1.2, x);
}

TEST(SimdExp, SinglePrecisionWithinItsPromise) {
  RandomStream stream(2);
  std::vector<float> x = {0.0F, -0.0F, 1e-30F, -1e-30F, 1.0F, -1.0F, 88.0F, -45.0F};
  for (int i = 0; i < 40000; ++i) {
    x.push_back(static_cast<float>(-45 * stream.Uniform()));
    x.push_back(static_cast<float>(88 * stream.Uniform()));
    x.push_back(static_cast<float>(2 * stream.Uniform() - 1));
    x.push_back(static_cast<float>(1e-4 * stream.Normal()));
  }
  for (int n = -64; n <= 126; ++n) {
    const auto edge = static_cast<float>((n + 0.5) * std::log(2.0));
    x.insert(x.end(), {edge, std::nextafter(edge, 1e9F), std::nextafter(edge, -1e9F)});
  }
  ExpectWithin(1.5, x);
}

TEST(SimdExp, ExactAtZero) {
  ForEachSimdTarget([] {
    EXPECT_EQ(VectorExp<double>({0})[0], 1.0);
    EXPECT_EQ(VectorExp<float>({0})[0], 1.0F);
  });
}

template <typename T>
void ExpectNanToStay() {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t lane = 0; lane < 16; ++lane) {
    std::vector<T> x(16, static_cast<T>(-1.5));
    x[lane] = lane % 2 == 0 ? nan : -nan;
    const AlignedVector<T> out = VectorExp(x);
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_EQ(std::isnan(out[i]), i == lane) << lane << ' ' << i;
  }
}

TEST(SimdExp, NotANumberStaysNotANumber) {
  ForEachSimdTarget([&] {
    ExpectNanToStay<double>();
    ExpectNanToStay<float>();
  });
}

template <typename T>
void ExpectTiny(const std::vector<T>& x, T most) {
  const AlignedVector<T> out = VectorExp(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_GE(out[i], 0) << x[i];
    EXPECT_LE(out[i], most) << x[i];
  }
}

TEST(SimdExp, VeryNegativeIsTinyAndNotNegative) {
  ForEachSimdTarget([&] {
    ExpectTiny<double>(
        {-708, -709, -745, -1e4, -1e100, -1e308, -std::numeric_limits<double>::infinity()}, 4e-308);
    ExpectTiny<float>({-45, -46, -88, -1e4, -1e38F, -std::numeric_limits<float>::infinity()},
                      3e-20F);
  });
}

}  // namespace
}  // namespace fathom
#endif  // HWY_ONCE
