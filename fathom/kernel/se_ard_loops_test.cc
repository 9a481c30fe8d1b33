#include "fathom/kernel/se_ard_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/random.h"
#include "tests/support/simd_targets.h"

namespace fathom::se_ard {
namespace {

AlignedBuffer Normals(Index size, double scale, RandomStream* stream) {
  AlignedBuffer out(static_cast<std::size_t>(size));
  for (double& x : out) x = scale * stream->Normal();
  return out;
}

// `scale` is the size of what was summed, which the rounding error is relative to.
void ExpectClose(double got, double expected, double scale, const std::string& what) {
  EXPECT_NEAR(got, expected, 1e-13 * scale) << what;
}

class LoopsOfDimension : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Dimensions, LoopsOfDimension, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 20));

struct PairProblem {
  Index rows, Q, pairs, features;
  AlignedBuffer f, weights, midpoints;

  PairProblem(Index rows_in, Index Q_in, Index pairs_in)
      : rows(rows_in), Q(Q_in), pairs(PaddedSize(pairs_in)), features(2 * Q_in + 1) {
    RandomStream stream(static_cast<std::uint64_t>(100 * rows + 10 * Q + pairs));
    f = Normals(rows * features, 0.5, &stream);
    weights = Normals(pairs, 1, &stream);
    midpoints = Normals(Q * pairs, 1, &stream);
    for (Index p = pairs_in; p < pairs; ++p) weights[p] = 0;
  }

  double Exponential(Index n, Index p) const {
    double exponent = f[n * features];
    for (Index q = 0; q < Q; ++q) {
      const double z = midpoints[q * pairs + p];
      exponent += f[n * features + 2 * q + 1] * z + f[n * features + 2 * q + 2] * z * z;
    }
    return std::exp(exponent);
  }
};

TEST_P(LoopsOfDimension, PairForward) {
  ForEachSimdTarget([&] {
    for (const Index rows : {1, 2, 3, 5, 16}) {
      for (const Index count : {1, 7, 8, 21}) {
        const PairProblem problem(rows, GetParam(), count);
        const Index pairs = problem.pairs;
        AlignedBuffer E(static_cast<std::size_t>(rows * pairs), -1);
        AlignedBuffer sums(static_cast<std::size_t>(rows * problem.features), -1);
        PairForward(rows, problem.Q, pairs, problem.f.data(), problem.weights.data(),
                    problem.midpoints.data(), E.data(), sums.data());
        for (Index n = 0; n < rows; ++n) {
          std::vector<double> expected(problem.features, 0.0);
          std::vector<double> size(problem.features, 0.0);
          const auto add = [&](Index k, double term) {
            expected[k] += term;
            size[k] += std::abs(term);
          };
          for (Index p = 0; p < pairs; ++p) {
            const double e = problem.Exponential(n, p);
            ExpectClose(E[n * pairs + p], e, 20 * e, "E");
            add(0, problem.weights[p] * e);
            for (Index q = 0; q < problem.Q; ++q) {
              const double z = problem.midpoints[q * pairs + p];
              add(2 * q + 1, problem.weights[p] * e * z);
              add(2 * q + 2, problem.weights[p] * e * z * z);
            }
          }
          for (Index k = 0; k < problem.features; ++k)
            ExpectClose(sums[n * problem.features + k], expected[k], 20 * size[k],
                        "sum " + std::to_string(k) + " of row " + std::to_string(n));
        }
      }
    }
  });
}

TEST_P(LoopsOfDimension, PairBackward) {
  ForEachSimdTarget([&] {
    for (const Index rows : {1, 4, 7}) {
      for (const Index count : {1, 9, 21}) {
        const PairProblem problem(rows, GetParam(), count);
        const Index pairs = problem.pairs;
        RandomStream stream(5);
        const AlignedBuffer E = Normals(rows * pairs, 1, &stream);
        const AlignedBuffer start = Normals(problem.features * pairs, 1, &stream);
        AlignedBuffer sums = start;
        PairBackward(rows, problem.Q, pairs, problem.f.data(), E.data(), sums.data());
        for (Index k = 0; k < problem.features; ++k) {
          for (Index p = 0; p < pairs; ++p) {
            double expected = start[k * pairs + p];
            for (Index n = 0; n < rows; ++n)
              expected += problem.f[n * problem.features + k] * E[n * pairs + p];
            ExpectClose(sums[k * pairs + p], expected, 10, "coefficient " + std::to_string(k));
          }
        }
      }
    }
  });
}

TEST_P(LoopsOfDimension, GaussianRows) {
  const Index D = GetParam();
  ForEachSimdTarget([&] {
    for (const Index M : {1, 7, 8, 9, 25}) {
      const Index rows = 3;
      const Index padded = PaddedSize(M);
      RandomStream stream(7);
      const AlignedBuffer x = Normals(rows * D, 1, &stream);
      const AlignedBuffer z = Normals(D * padded, 1, &stream);
      const AlignedBuffer offset = Normals(rows, 1, &stream);
      AlignedBuffer s = Normals(rows * D, 0.5, &stream);
      for (double& value : s) value *= value;
      for (const bool scaled : {false, true}) {
        AlignedBuffer k(static_cast<std::size_t>(rows * padded), -1);
        GaussianRows(rows, D, M, offset.data(), x.data(), scaled ? s.data() : nullptr, z.data(),
                     k.data());
        for (Index n = 0; n < rows; ++n) {
          for (Index i = 0; i < padded; ++i) {
            double square = 0;
            for (Index q = 0; q < D; ++q) {
              const double difference = x[n * D + q] - z[q * padded + i];
              square += (scaled ? s[n * D + q] : 1) * difference * difference;
            }
            const double expected = i < M ? std::exp(offset[n] - 0.5 * square) : 0;
            ExpectClose(k[n * padded + i], expected, 20 * expected, "k");
          }
        }
      }
    }
  });
}

class LoopsOfSize : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Sizes, LoopsOfSize, testing::Values(1, 3, 4, 7, 8, 9, 23, 24, 25, 50));

TEST_P(LoopsOfSize, RowsTimesMatrix) {
  const Index M = GetParam();
  const Index padded = PaddedSize(M);
  ForEachSimdTarget([&] {
    for (const Index rows : {1, 3, 4, 5, 9}) {
      RandomStream stream(11);
      const AlignedBuffer k = Normals(rows * padded, 1, &stream);
      const AlignedBuffer S = Normals(M * padded, 1, &stream);
      AlignedBuffer U(static_cast<std::size_t>(rows * padded), -1);
      RowsTimesMatrix(rows, M, k.data(), S.data(), U.data());
      for (Index n = 0; n < rows; ++n) {
        for (Index j = 0; j < M; ++j) {
          double expected = 0;
          for (Index i = 0; i < M; ++i) expected += k[n * padded + i] * S[i * padded + j];
          ExpectClose(U[n * padded + j], expected, 50, "U");
        }
        // The same bits wherever the row stands.
        AlignedBuffer alone(static_cast<std::size_t>(padded), -1);
        RowsTimesMatrix(1, M, k.data() + n * padded, S.data(), alone.data());
        for (Index j = 0; j < M; ++j) EXPECT_EQ(alone[j], U[n * padded + j]);
      }
    }
  });
}

TEST_P(LoopsOfSize, SymmetricRankUpdate) {
  const Index M = GetParam();
  const Index padded = PaddedSize(M);
  ForEachSimdTarget([&] {
    for (const Index rows : {1, 2, 7}) {
      RandomStream stream(13);
      const AlignedBuffer k = Normals(rows * padded, 1, &stream);
      const AlignedBuffer g = Normals(rows, 1, &stream);
      const AlignedBuffer start = Normals(M * padded, 1, &stream);
      AlignedBuffer C = start;
      AlignedBuffer scratch(static_cast<std::size_t>(rows * padded));
      SymmetricRankUpdate(rows, M, g.data(), k.data(), scratch.data(), C.data());
      for (Index i = 0; i < M; ++i) {
        for (Index j = 0; j <= i; ++j) {
          double expected = start[i * padded + j];
          for (Index n = 0; n < rows; ++n) expected += g[n] * k[n * padded + i] * k[n * padded + j];
          ExpectClose(C[i * padded + j], expected, 50, "C");
        }
      }
    }
  });
}

TEST(Loops, NotANumberIsNotHidden) {
  ForEachSimdTarget([] {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const AlignedBuffer x(1, nan);
    const AlignedBuffer z(8, 0.5);
    const AlignedBuffer offset(1, 0.0);
    AlignedBuffer k(8, 0.0);
    GaussianRows(1, 1, 3, offset.data(), x.data(), nullptr, z.data(), k.data());
    for (Index i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(k[i])) << i;
    const AlignedBuffer features(3, nan);
    const AlignedBuffer weights(8, 1.0);
    AlignedBuffer E(8, 0.0);
    AlignedBuffer sums(3, 0.0);
    PairForward(1, 1, 8, features.data(), weights.data(), z.data(), E.data(), sums.data());
    for (const double sum : sums) EXPECT_TRUE(std::isnan(sum));
  });
}

}  // namespace
}  // namespace fathom::se_ard
