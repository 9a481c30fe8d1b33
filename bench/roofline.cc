#include "bench/roofline.h"

#include <charconv>
#include <string>
#include <vector>

#include "bench/clock.h"
#include "fathom/base/aligned.h"
#include "fathom/base/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/roofline.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
// After foreach_target.h: compiled once per target.
#include "fathom/base/simd_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kSimdPadding>;
using V = hn::Vec<D>;

void ExpAll(Index count, const double* HWY_RESTRICT x, double* HWY_RESTRICT y) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < count; i += 2 * lanes) {
    hn::Store(Exp2(d, hn::Load(d, x + i)), d, y + i);
    hn::Store(Exp2(d, hn::Load(d, x + i + lanes)), d, y + i + lanes);
  }
}

// Returns the number of flops done.
double MultiplyAddAll(Index rounds, double* sink) {
  constexpr int kChains = 12;  // covers a latency of 4 cycles times 2 units with some to spare
  const D d;
  V sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = hn::Set(d, 1.0 + c);
  const V factor = hn::Set(d, *sink);
  const V term = hn::Set(d, 1e-3);
  for (Index i = 0; i < rounds; ++i) {
    for (V& chain : sum) chain = hn::MulAdd(chain, factor, term);
  }
  V total = hn::Zero(d);
  for (const V& chain : sum) total = hn::Add(total, chain);
  *sink = 0.5 + 1e-9 * hn::GetLane(hn::SumOfLanes(d, total));
  return 2.0 * kChains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

double SumAll(Index count, const double* HWY_RESTRICT x) {
  const D d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  V sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (Index i = 0; i < count; i += 4 * lanes) {
    for (int k = 0; k < 4; ++k) sum[k] = hn::Add(sum[k], hn::Load(d, x + i + k * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]))));
}

const char* Target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

HWY_EXPORT(ExpAll);
HWY_EXPORT(MultiplyAddAll);
HWY_EXPORT(SumAll);
HWY_EXPORT(Target);

namespace bench {

namespace {

// A result that is written here cannot be left out by the compiler.
volatile double kept;
void Keep(double value) { kept = value; }

double ExpSeconds() {
  constexpr Index kCount = 1024;
  RandomStream stream(1);
  AlignedBuffer x(kCount);
  AlignedBuffer y(kCount);
  for (double& value : x) value = -20 * stream.Uniform();
  const double seconds = BestCpuSeconds(20, [&] {
    for (int i = 0; i < 100; ++i) HWY_DYNAMIC_DISPATCH(fathom::ExpAll)(kCount, x.data(), y.data());
  });
  Keep(y[kCount / 2]);
  return seconds / (100.0 * kCount);
}

double DgemmFlops() {
  constexpr Index kSize = 512;
  RandomStream stream(2);
  const Matrix A = stream.NormalMatrix(kSize, kSize);
  const Matrix B = stream.NormalMatrix(kSize, kSize);
  Matrix C(kSize, kSize);
  const double seconds = BestCpuSeconds(5, [&] { C.noalias() = A * B; });
  Keep(C(1, 1));
  return 2.0 * kSize * kSize * kSize / seconds;
}

double MultiplyAddFlops() {
  double sink = 0.5;
  double flops = 0;
  const double seconds = BestCpuSeconds(
      10, [&] { flops = HWY_DYNAMIC_DISPATCH(fathom::MultiplyAddAll)(20'000, &sink); });
  Keep(sink);
  return flops / seconds;
}

double BytesPerSecond() {
  constexpr Index kCount = Index{32} << 20;
  const AlignedBuffer x(kCount, 1.0);
  double sum = 0;
  const double seconds =
      BestCpuSeconds(4, [&] { sum += HWY_DYNAMIC_DISPATCH(fathom::SumAll)(kCount, x.data()); });
  Keep(sum);
  return 8.0 * kCount / seconds;
}

// Text like that of csv_bench: numbers of six digits.
double FromCharsSeconds() {
  constexpr int kCells = 10'000;
  RandomStream stream(3);
  std::string text;
  for (int i = 0; i < kCells; ++i) text += std::to_string(stream.Normal()) + ",";
  double sum = 0;
  const double seconds = BestCpuSeconds(5, [&] {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
      double value = 0;
      at = std::from_chars(at, end, value).ptr + 1;
      sum += value;
    }
  });
  Keep(sum);
  return seconds / kCells;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  exps += other.exps;
  flops += other.flops;
  bytes += other.bytes;
  cells += other.cells;
  return *this;
}

Work operator*(double factor, const Work& work) {
  return {factor * work.exps, factor * work.flops, factor * work.bytes, factor * work.cells};
}

void Roofline::Refine() {
  const bool first = target.empty();
  const auto lower = [&](double measured, double* best) {
    *best = first ? measured : std::min(*best, measured);
  };
  lower(ExpSeconds(), &exp_seconds);
  lower(FromCharsSeconds(), &from_chars_seconds);
  dgemm_flops = std::max(dgemm_flops, DgemmFlops());
  fma_flops = std::max(fma_flops, MultiplyAddFlops());
  if (!first) return;
  bytes_per_second = BytesPerSecond();
  target = HWY_DYNAMIC_DISPATCH(fathom::Target)();
}

double Roofline::IdealSeconds(const Work& work) const {
  return work.exps * exp_seconds + work.flops / dgemm_flops + work.bytes / bytes_per_second +
         work.cells * from_chars_seconds;
}

}  // namespace bench
}  // namespace fathom
#endif  // HWY_ONCE
