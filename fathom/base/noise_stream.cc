#include "fathom/base/noise_stream.h"

#include <algorithm>

#include "fathom/base/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fathom/base/noise_stream.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fathom::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
void PhiloxChunkOf(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_block,
                   std::uint32_t* words) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  for (Index b = 0; b < kChunkBlocks; ++b) {
    const std::uint64_t block = first_block + static_cast<std::uint64_t>(b);
    const std::array<std::uint32_t, 4> words_of_block =
        Philox4x32({low(block), low(block >> 32), low(stream), low(stream >> 32)},
                   {low(seed), low(seed >> 32)});
    std::copy_n(words_of_block.data(), 2, words + 2 * b);
    std::copy_n(words_of_block.data() + 2, 2, words + 2 * kChunkBlocks + 2 * b);
  }
}
#else
// 32-bit words in the lower halves of 64-bit lanes; what the upper halves hold does not matter.
void PhiloxChunkOf(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_block,
                   std::uint32_t* HWY_RESTRICT words) {
  using Wide = hn::CappedTag<std::uint64_t, 8>;
  const Wide wide;
  const hn::Repartition<std::uint32_t, Wide> narrow;
  const auto lanes = static_cast<Index>(hn::Lanes(wide));
  const auto factor0 = hn::BitCast(narrow, hn::Set(wide, 0xD2511F53));
  const auto factor1 = hn::BitCast(narrow, hn::Set(wide, 0xCD9E8D57));
  const auto low_half = hn::Set(wide, 0xFFFFFFFF);
  for (Index b = 0; b < kChunkBlocks; b += lanes) {
    auto c0 = hn::Add(hn::Iota(wide, static_cast<std::uint64_t>(b)), hn::Set(wide, first_block));
    auto c1 = hn::ShiftRight<32>(c0);
    auto c2 = hn::Set(wide, stream);
    auto c3 = hn::ShiftRight<32>(c2);
    auto key0 = static_cast<std::uint32_t>(seed);
    auto key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const auto product0 = hn::MulEven(factor0, hn::BitCast(narrow, c0));
      const auto product1 = hn::MulEven(factor1, hn::BitCast(narrow, c2));
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), c1), hn::Set(wide, key0));
      c1 = product1;
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), c3), hn::Set(wide, key1));
      c3 = product0;
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    const auto pack = [&](auto even, auto odd) {
      return hn::BitCast(narrow, hn::Or(hn::And(even, low_half), hn::ShiftLeft<32>(odd)));
    };
    hn::StoreU(pack(c0, c1), narrow, words + 2 * b);
    hn::StoreU(pack(c2, c3), narrow, words + 2 * kChunkBlocks + 2 * b);
  }
}

#endif

using Float = hn::CappedTag<float, 16>;
using V = hn::Vec<Float>;

// log(x) for normal x > 0, to 2 ulp: x = 2^e (1 + f), f in [-0.29, 0.41].
HWY_INLINE V Log(Float d, V x) {
  const hn::RebindToSigned<Float> bits;
  constexpr std::int32_t kRootHalf = 0x3F3504F3;
  const auto of_x = hn::BitCast(bits, x);
  const auto e = hn::ShiftRight<23>(hn::Sub(of_x, hn::Set(bits, kRootHalf)));
  const V f = hn::Sub(hn::BitCast(d, hn::Sub(of_x, hn::ShiftLeft<23>(e))), hn::Set(d, 1.0F));
  V p = hn::Set(d, 7.0376836292E-2F);
  for (const float c : {-1.1514610310E-1F, 1.1676998740E-1F, -1.2420140846E-1F, 1.4249322787E-1F,
                        -1.6668057665E-1F, 2.0000714765E-1F, -2.4999993993E-1F, 3.3333331174E-1F})
    p = hn::MulAdd(p, f, hn::Set(d, c));
  const V square = hn::Mul(f, f);
  const V log_mantissa = hn::Add(f, hn::Mul(square, hn::MulAdd(f, p, hn::Set(d, -0.5F))));
  return hn::MulAdd(hn::ConvertTo(d, e), hn::Set(d, 0.693147181F), log_mantissa);
}

// Box and Muller. The first half of the words gives radii. Of the second half, 30 bits are an angle
// between -45 and 45 degrees, and two say in which of the four quarters it lies.
void NormalsOf(const std::uint32_t* HWY_RESTRICT words, double* HWY_RESTRICT out) {
  const Float d;
  const hn::RebindToSigned<Float> bits;
  constexpr Index kPairs = kChunkWords / 2;
  HWY_ALIGN float normals[kChunkWords];
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto load = [&](Index at) {
    return hn::LoadU(bits, reinterpret_cast<const std::int32_t*>(words) + at);
  };
  for (Index i = 0; i < kPairs; i += lanes) {
    // Sets the sign bit to zero: 31 bits are left.
    const auto word = hn::And(load(i), hn::Set(bits, 0x7FFFFFFF));
    const V uniform =
        hn::Mul(hn::Add(hn::ConvertTo(d, word), hn::Set(d, 0.5F)), hn::Set(d, 0x1p-31F));
    const V radius = hn::Sqrt(hn::Max(hn::Mul(hn::Set(d, -2.0F), Log(d, uniform)), hn::Zero(d)));
    const auto direction = load(kPairs + i);
    constexpr float kQuarter = 0x1p-31F * 0.785398163F;  // of all 32 bits, to 45 degrees
    const V y = hn::Mul(hn::ConvertTo(d, direction), hn::Set(d, kQuarter));
    const V y2 = hn::Mul(y, y);
    V s = hn::MulAdd(y2, hn::Set(d, -1.9515295891E-4F), hn::Set(d, 8.3321608736E-3F));
    s = hn::MulAdd(y2, s, hn::Set(d, -1.6666654611E-1F));
    s = hn::MulAdd(hn::Mul(y2, y), s, y);
    V c = hn::MulAdd(y2, hn::Set(d, 2.443315711809948E-5F), hn::Set(d, -1.388731625493765E-3F));
    c = hn::MulAdd(y2, c, hn::Set(d, 4.166664568298827E-2F));
    c = hn::MulAdd(hn::Mul(y2, y2), c, hn::MulAdd(y2, hn::Set(d, -0.5F), hn::Set(d, 1.0F)));
    // The lowest bits do not change the angle in single precision.
    const auto sign = hn::BitCast(d, hn::ShiftLeft<31>(direction));
    const V signed_radius = hn::Xor(radius, sign);
    const auto swap = hn::Ne(hn::And(direction, hn::Set(bits, 2)), hn::Zero(bits));
    const auto swap_f = hn::RebindMask(d, swap);
    hn::Store(hn::Mul(signed_radius, hn::IfThenElse(swap_f, s, c)), d, normals + i);
    hn::Store(hn::Mul(signed_radius, hn::IfThenElse(swap_f, c, s)), d, normals + kPairs + i);
  }
  for (Index i = 0; i < kChunkWords; ++i) out[i] = static_cast<double>(normals[i]);
}

void MasksOf(const std::uint32_t* HWY_RESTRICT words, std::uint32_t below, double kept,
             double* HWY_RESTRICT out) {
  for (Index i = 0; i < kChunkWords; ++i) out[i] = words[i] < below ? 0.0 : kept;
}

}  // namespace fathom::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom {

HWY_EXPORT(PhiloxChunkOf);
HWY_EXPORT(NormalsOf);
HWY_EXPORT(MasksOf);

void PhiloxChunk(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_block,
                 std::uint32_t* words) {
  HWY_DYNAMIC_DISPATCH(PhiloxChunkOf)(seed, stream, first_block, words);
}

namespace {

// Calls make(words, place) for each chunk; the numbers of the last one that are not wanted are
// lost.
template <typename Make>
void FillChunks(std::uint64_t seed, std::uint64_t stream, const Make& make, std::uint64_t* block,
                std::span<double> out) {
  alignas(64) std::uint32_t words[kChunkWords];
  const auto philox = HWY_DYNAMIC_DISPATCH(PhiloxChunkOf);
  while (!out.empty()) {
    philox(seed, stream, *block, words);
    *block += kChunkBlocks;
    if (out.size() >= std::size_t{kChunkWords}) {
      make(words, out.data());
      out = out.subspan(kChunkWords);
      continue;
    }
    double last[kChunkWords];
    make(words, last);
    std::copy_n(last, out.size(), out.begin());
    return;
  }
}

}  // namespace

void NoiseStream::Normals(std::span<double> out) {
  FillChunks(seed_, stream_, HWY_DYNAMIC_DISPATCH(NormalsOf), &block_, out);
}

void NoiseStream::Masks(double rate, double kept, std::span<double> out) {
  const auto below = static_cast<std::uint32_t>(std::min(rate * 0x1p32, 0x1p32 - 1));
  const auto make = HWY_DYNAMIC_DISPATCH(MasksOf);
  FillChunks(
      seed_, stream_,
      [&](const std::uint32_t* words, double* place) { make(words, below, kept, place); }, &block_,
      out);
}

}  // namespace fathom
#endif  // HWY_ONCE
