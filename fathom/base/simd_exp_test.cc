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

// Computes Exp2 of all of x, whose size is a multiple of kPadding.
template <typename T>
void Exp2All(const T* x, T* out, Index size) {
  const hn::CappedTag<T, 64 / sizeof(T)> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < size; i += lanes) hn::Store(Exp2(d, hn::Load(d, x + i)), d, out + i);
}
void Exp2Double(const double* x, double* out, Index size) { Exp2All(x, out, size); }
void Exp2Float(const float* x, float* out, Index size) { Exp2All(x, out, size); }
void ExpDouble(const double* x, double* out, Index size) {
  const hn::CappedTag<double, 8> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < size; i += lanes) hn::Store(Exp(d, hn::Load(d, x + i)), d, out + i);
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {
HWY_EXPORT(ExpDouble);
HWY_EXPORT(Exp2Double);
HWY_EXPORT(Exp2Float);
namespace {

template <typename T, typename Run>
AlignedVector<T> Padded(const std::vector<T>& x, Run run) {
  const std::size_t padded = (x.size() + 15) / 16 * 16;
  AlignedVector<T> in(padded, 0);
  AlignedVector<T> out(padded, -1);
  std::copy(x.begin(), x.end(), in.begin());
  run(in.data(), out.data(), static_cast<Index>(padded));
  return out;
}

AlignedVector<double> VectorExp(const std::vector<double>& x) {
  return Padded(x, [](auto... a) { HWY_DYNAMIC_DISPATCH(ExpDouble)(a...); });
}
AlignedVector<double> VectorExp2(const std::vector<double>& x) {
  return Padded(x, [](auto... a) { HWY_DYNAMIC_DISPATCH(Exp2Double)(a...); });
}
AlignedVector<float> VectorExp2(const std::vector<float>& x) {
  return Padded(x, [](auto... a) { HWY_DYNAMIC_DISPATCH(Exp2Float)(a...); });
}

// Error in units of the last place of the exact result.
template <typename T>
double Ulps(T got, long double exact) {
  const auto rounded = static_cast<T>(exact);
  const T ulp = std::nextafter(rounded, std::numeric_limits<T>::infinity()) - rounded;
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / ulp);
}

template <typename T, typename Vectorized, typename Exact>
void ExpectWithin(double ulps, const std::vector<T>& x, Vectorized vectorized, Exact exact) {
  ForEachSimdTarget([&] {
    const AlignedVector<T> out = vectorized(x);
    double worst = 0;
    T worst_at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = Ulps(out[i], exact(static_cast<long double>(x[i])));
      if (!(error <= worst)) {
        worst = error;
        worst_at = x[i];
      }
    }
    EXPECT_LE(worst, ulps) << "at " << worst_at;
  });
}

long double ExactExp(long double x) { return std::exp(x); }
long double ExactExp2(long double x) { return std::exp2(x); }

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
  ExpectWithin(1.7, x, VectorExp, ExactExp);
}

TEST(SimdExp2, WithinItsPromise) {
  RandomStream stream(3);
  std::vector<double> x = {0.0, -0.0, 1e-300, -1e-300, 1.0, -1.0, 1009.0, -1021.0};
  for (int i = 0; i < 40000; ++i) {
    x.push_back(-1021 * stream.Uniform());
    x.push_back(1009 * stream.Uniform());
    x.push_back(2 * stream.Uniform() - 1);
    x.push_back(1e-8 * stream.Normal());
  }
  for (int n = -16320; n <= 16320; ++n) {  // where the reduction may change
    const double edge = n / 16.0;
    if (edge < -1021 || edge > 1009) continue;
    x.insert(x.end(), {edge, std::nextafter(edge, 1e9), std::nextafter(edge, -1e9)});
  }
  x.pop_back();  // its edge is above the range
  ExpectWithin(
      1.7, x, [](const auto& all) { return VectorExp2(all); }, ExactExp2);
}

TEST(SimdExp2, SinglePrecisionWithinItsPromise) {
  RandomStream stream(2);
  std::vector<float> x = {0.0F, -0.0F, 1e-30F, -1e-30F, 1.0F, -1.0F, 127.0F, -65.0F};
  for (int i = 0; i < 40000; ++i) {
    x.push_back(static_cast<float>(-65 * stream.Uniform()));
    x.push_back(static_cast<float>(127 * stream.Uniform()));
    x.push_back(static_cast<float>(2 * stream.Uniform() - 1));
    x.push_back(static_cast<float>(1e-4 * stream.Normal()));
  }
  for (int n = -65 * 32 + 1; n < 127 * 32; ++n) {
    const auto edge = static_cast<float>(n) / 32;
    x.insert(x.end(), {edge, std::nextafter(edge, 1e9F), std::nextafter(edge, -1e9F)});
  }
  ExpectWithin(
      1.5, x, [](const auto& all) { return VectorExp2(all); }, ExactExp2);
}

TEST(SimdExp, ExactAtZero) {
  ForEachSimdTarget([] {
    EXPECT_EQ(VectorExp({0})[0], 1.0);
    EXPECT_EQ(VectorExp2(std::vector<double>{0})[0], 1.0);
    EXPECT_EQ(VectorExp2(std::vector<float>{0})[0], 1.0F);
  });
}

template <typename T, typename Vectorized>
void ExpectNanToStay(Vectorized vectorized) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t lane = 0; lane < 16; ++lane) {
    std::vector<T> x(16, static_cast<T>(-1.5));
    x[lane] = lane % 2 == 0 ? nan : -nan;
    const AlignedVector<T> out = vectorized(x);
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_EQ(std::isnan(out[i]), i == lane) << lane << ' ' << i;
  }
}

TEST(SimdExp, NotANumberStaysNotANumber) {
  ForEachSimdTarget([&] {
    const auto exp2 = [](const auto& x) { return VectorExp2(x); };
    ExpectNanToStay<double>(VectorExp);
    ExpectNanToStay<double>(exp2);
    ExpectNanToStay<float>(exp2);
  });
}

template <typename T>
void ExpectTiny(const AlignedVector<T>& out, double most) {
  for (const T value : out) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, most);
  }
}

TEST(SimdExp, VeryNegativeIsTinyAndNotNegative) {
  // Sixteen of each, so that nothing is padded.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> x = {-708, -709, -745, -1e4, -1e100, -1e307, -1e308, -kInfinity};
  x.insert(x.end(), x.begin(), x.begin() + 8);
  std::vector<double> x2 = x;
  std::vector<float> x2_single(16);
  for (std::size_t i = 0; i < 16; ++i) {
    x2[i] *= 2;
    x2_single[i] = static_cast<float>(std::max(x[i], -1e38));
  }
  ForEachSimdTarget([&] {
    ExpectTiny(VectorExp(x), 4e-308);
    ExpectTiny(VectorExp2(x2), 5e-308);
    ExpectTiny(VectorExp2(x2_single), 3e-20);
  });
}

}  // namespace
}  // namespace fathom
#endif  // HWY_ONCE
