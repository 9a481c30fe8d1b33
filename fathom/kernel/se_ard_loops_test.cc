#include "fathom/kernel/se_ard_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
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
INSTANTIATE_TEST_SUITE_P(Dimensions, LoopsOfDimension, testing::Values(1, 2, 3, 4, 5, 8, 20));
class PairLoops : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Dimensions, PairLoops, testing::Range<Index>(1, kMostPairInputs + 1));

template <typename T>
AlignedVector<T> Rounded(const AlignedBuffer& x) {
  return AlignedVector<T>(x.begin(), x.end());
}

// What a sum may differ by, relative to the sum of its terms' sizes.
template <typename T>
constexpr double kPairTolerance = std::is_same_v<T, double> ? 2e-12 : 5e-6;

// And absolutely: of a tiny exponential in single precision, the exponent is rounded.
template <typename T>
constexpr double kFloor = std::is_same_v<T, double> ? 1e-17 : 1e-8;

template <typename T>
struct PairProblem {
  Index rows, Q, pairs, sums;
  AlignedVector<T> features, weights, midpoints;

  PairProblem(Index rows_in, Index Q_in, Index pairs_in)
      : rows(rows_in),
        Q(Q_in),
        pairs((pairs_in + kPairPadding - 1) / kPairPadding * kPairPadding),
        sums(2 * Q_in + 1) {
    RandomStream stream(static_cast<std::uint64_t>(100 * rows + 10 * Q + pairs_in));
    features = Rounded<T>(Normals(rows * 2 * Q, 0.7, &stream));
    weights = Rounded<T>(Normals(pairs, 1, &stream));
    midpoints = Rounded<T>(Normals(Q * pairs, 1, &stream));
    for (Index p = pairs_in; p < pairs; ++p) weights[p] = 0;
  }

  PairTile<T> Tile(T* E, double* to) const {
    return {rows, Q, pairs, features.data(), weights.data(), midpoints.data(), E, to};
  }
  double y(Index n, Index q, Index p) const {
    const T* f = features.data() + n * 2 * Q + 2 * q;
    return static_cast<double>(f[0]) * midpoints[q * pairs + p] - f[1];
  }
  double Exponential(Index n, Index p) const {
    double exponent = 0;
    for (Index q = 0; q < Q; ++q) exponent -= y(n, q, p) * y(n, q, p);
    return std::exp(exponent);
  }
};

template <typename T>
void CheckPairForward(Index rows, Index Q, Index count) {
  const PairProblem<T> problem(rows, Q, count);
  const Index pairs = problem.pairs;
  AlignedVector<T> E(static_cast<std::size_t>(rows * pairs), -1);
  AlignedBuffer sums(static_cast<std::size_t>(rows * problem.sums), -1);
  AlignedBuffer alone(static_cast<std::size_t>(rows), -1);
  PairForward(problem.Tile(E.data(), sums.data()));
  PairForward(problem.Tile(nullptr, alone.data()));
  for (Index n = 0; n < rows; ++n) {
    std::vector<double> expected(problem.sums, 0.0);
    std::vector<double> size(problem.sums, 0.0);
    const auto add = [&](Index k, double term) {
      expected[k] += term;
      size[k] += std::abs(term);
    };
    for (Index p = 0; p < pairs; ++p) {
      const double e = problem.Exponential(n, p);
      // Mixed, the exponent itself is rounded, and small values are floored.
      const double floor = std::is_same_v<T, double> ? 0 : 1e-18;
      EXPECT_NEAR(E[n * pairs + p], e, 30 * kPairTolerance<T> * e + floor);
      add(0, problem.weights[p] * e);
      for (Index q = 0; q < problem.Q; ++q) {
        const double y = problem.y(n, q, p);
        add(2 * q + 1, problem.weights[p] * e * y);
        add(2 * q + 2, problem.weights[p] * e * y * y);
      }
    }
    for (Index k = 0; k < problem.sums; ++k) {
      EXPECT_NEAR(sums[n * problem.sums + k], expected[k], kPairTolerance<T> * size[k] + kFloor<T>)
          << "sum " << k << " of row " << n;
    }
    EXPECT_NEAR(alone[n], expected[0], kPairTolerance<T> * size[0] + kFloor<T>) << "value alone";
  }
}

TEST_P(PairLoops, Forward) {
  ForEachSimdTarget([&] {
    for (const Index rows : {1, 2, 3, 5, 16}) {
      for (const Index count : {1, 7, 16, 21, 600}) {
        CheckPairForward<double>(rows, GetParam(), count);
        CheckPairForward<float>(rows, GetParam(), count);
      }
    }
  });
}

template <typename T>
void CheckPairBackward(Index rows, Index Q, Index count) {
  const PairProblem<T> problem(rows, Q, count);
  const Index pairs = problem.pairs;
  RandomStream stream(5);
  const auto coefficients = Rounded<T>(Normals(rows * problem.sums, 0.5, &stream));
  const auto E = Rounded<T>(Normals(rows * pairs, 1, &stream));
  const AlignedBuffer start = Normals(problem.sums * pairs, 1, &stream);
  AlignedBuffer sums = start;
  PairBackward(rows, problem.sums, pairs, coefficients.data(), E.data(), sums.data());
  for (Index k = 0; k < problem.sums; ++k) {
    for (Index p = 0; p < pairs; ++p) {
      double expected = start[k * pairs + p];
      for (Index n = 0; n < rows; ++n)
        expected += static_cast<double>(coefficients[n * problem.sums + k]) * E[n * pairs + p];
      EXPECT_NEAR(sums[k * pairs + p], expected, 10 * kPairTolerance<T>) << "coefficient " << k;
    }
  }
}

TEST_P(PairLoops, Backward) {
  ForEachSimdTarget([&] {
    for (const Index rows : {1, 4, 7, 16, 19}) {
      for (const Index count : {1, 9, 21}) {
        CheckPairBackward<double>(rows, GetParam(), count);
        CheckPairBackward<float>(rows, GetParam(), count);
      }
    }
  });
}

TEST(Triangle, HoldsEveryPairOnce) {
  for (const Index M : {1, 8, 9, 30}) {
    std::vector<int> seen(static_cast<std::size_t>(TriangleSize(M)));
    for (Index i = 0; i < M; ++i) {
      EXPECT_EQ(TrianglePlace(i, 0) % kSimdPadding, 0);
      for (Index j = 0; j < TriangleWidth(i); ++j)
        ++seen.at(static_cast<std::size_t>(TrianglePlace(i, j)));
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 2), 0) << M;
  }
}

class FactoredLoops : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Sizes, FactoredLoops, testing::Values(1, 3, 7, 8, 9, 24, 25, 50));

// A row's arrays, and psi2 by its definition.
struct FactoredProblem {
  FactoredProblem(Index M_in, Index inputs_in)
      : M(M_in),
        inputs(inputs_in),
        padded(PaddedSize(M)),
        log_k(Normals(padded, 1, &stream)),
        slope(Normals(inputs * padded, 0.3, &stream)),
        zeta(Normals(inputs * padded, 0.3, &stream)),
        weights(static_cast<std::size_t>(TriangleSize(M))),
        E(static_cast<std::size_t>(TriangleSize(M)), -1) {
    for (double& x : log_k) x = -std::abs(x);
    for (Index i = 0; i < M; ++i) {
      for (Index j = 0; j <= i; ++j) weights[TrianglePlace(i, j)] = stream.Normal();
    }
  }
  double Expected(Index i, Index j) const {
    double exponent = log_k[i] + log_k[j];
    for (Index q = 0; q < inputs; ++q) exponent += slope[q * padded + i] * zeta[q * padded + j];
    return std::exp2(std::min(exponent, 0.0));
  }
  double Forward(double* to) const {
    return FactoredForward(
        {M, inputs, log_k.data(), slope.data(), zeta.data(), weights.data(), to});
  }

  RandomStream stream{3};
  Index M, inputs, padded;
  AlignedBuffer log_k, slope, zeta, weights, E;
};

TEST_P(FactoredLoops, Forward) {
  ForEachSimdTarget([&] {
    for (const Index inputs : {0, 1, 5}) {
      FactoredProblem problem(GetParam(), inputs);
      const double sum = problem.Forward(problem.E.data());
      double expected = 0, scale = 0;
      for (Index i = 0; i < problem.M; ++i) {
        for (Index j = 0; j <= i; ++j) {
          const Index place = TrianglePlace(i, j);
          ExpectClose(problem.E[place], problem.Expected(i, j), 10, "E");
          expected += problem.weights[place] * problem.Expected(i, j);
          scale += std::abs(problem.weights[place]);
        }
      }
      ExpectClose(sum, expected, 10 * scale, "sum");
      EXPECT_EQ(problem.Forward(nullptr), sum);
      problem.log_k[0] = std::numeric_limits<double>::quiet_NaN();
      EXPECT_TRUE(std::isnan(problem.Forward(problem.E.data())));
    }
  });
}

TEST_P(FactoredLoops, Backward) {
  ForEachSimdTarget([&] {
    constexpr Index kColumns = 3;
    FactoredProblem problem(GetParam(), 2);
    const Index M = problem.M, padded = problem.padded;
    problem.Forward(problem.E.data());
    const AlignedBuffer column = Normals(kColumns * padded, 1, &problem.stream);
    AlignedBuffer scratch(static_cast<std::size_t>(4 * padded), -1);
    AlignedBuffer sums(problem.E.size(), 2), products(column.size(), -1);
    const double g = -0.7;
    FactoredBackward({M, kColumns, g, problem.weights.data(), problem.E.data(), column.data(),
                      scratch.data(), sums.data(), products.data()});
    std::vector<double> expected(column.size()), scale(column.size());
    for (Index i = 0; i < M; ++i) {
      for (Index j = 0; j <= i; ++j) {
        const Index place = TrianglePlace(i, j);
        const double E = problem.Expected(i, j);
        ExpectClose(sums[place], 2 + g * E, 10, "pair sum");
        const double G = g * problem.weights[place] * E;
        for (Index q = 0; q < kColumns * padded; q += padded) {
          expected[q + i] += G * column[q + j];
          expected[q + j] += G * column[q + i];
          scale[q + i] += std::abs(G * column[q + j]);
          scale[q + j] += std::abs(G * column[q + i]);
        }
      }
    }
    for (Index q = 0; q < kColumns * padded; q += padded) {
      for (Index i = 0; i < M; ++i)
        ExpectClose(products[q + i], expected[q + i], 10 * scale[q + i], "product");
    }
  });
}

TEST_P(FactoredLoops, InputBackward) {
  const Index M = GetParam(), padded = PaddedSize(M);
  ForEachSimdTarget([&] {
    RandomStream stream(4);
    const AlignedBuffer z = Normals(padded, 1, &stream), G_zeta = Normals(padded, 1, &stream);
    AlignedBuffer d_log_k = Normals(padded, 1, &stream), G_padded = G_zeta;
    for (Index i = M; i < padded; ++i) d_log_k[i] = G_padded[i] = 0;
    const double mu = 0.3, alpha = 0.7, beta = 0.2;
    for (const bool factor_alone : {false, true}) {
      AlignedBuffer d_z(static_cast<std::size_t>(padded), 2);
      const FactoredInputSums got =
          FactoredInputBackward({M, mu, alpha, beta, z.data(), d_log_k.data(),
                                 factor_alone ? nullptr : G_padded.data(), d_z.data()});
      FactoredInputSums expected{0, 0, 0};
      for (Index i = 0; i < M; ++i) {
        const double zeta = z[i] - mu, G = factor_alone ? 0 : G_zeta[i];
        const double d_zeta = -2 * alpha * d_log_k[i] * zeta + beta * G;
        ExpectClose(d_z[i], 2 + d_zeta, 10, "d_z");
        expected.mu -= d_zeta;
        expected.alpha -= d_log_k[i] * zeta * zeta;
        expected.beta += 0.5 * zeta * G;
      }
      const auto scale = static_cast<double>(50 * M);
      ExpectClose(got.mu, expected.mu, scale, "mu");
      ExpectClose(got.alpha, expected.alpha, scale, "alpha");
      ExpectClose(got.beta, expected.beta, scale, "beta");
    }
  });
}

TEST_P(LoopsOfDimension, SquaredDistances) {
  const Index D = GetParam(), M = 9, padded = PaddedSize(M);
  ForEachSimdTarget([&] {
    RandomStream stream(6);
    const AlignedBuffer x = Normals(D, 1, &stream), s = Normals(D, 1, &stream);
    const AlignedBuffer z = Normals(D * padded, 1, &stream);
    AlignedBuffer out(static_cast<std::size_t>(padded));
    SquaredDistances(D, M, x.data(), s.data(), z.data(), out.data());
    for (Index i = 0; i < M; ++i) {
      double expected = 0, scale = 0;
      for (Index q = 0; q < D; ++q) {
        const double difference = x[q] - z[q * padded + i];
        expected += s[q] * difference * difference;
        scale += std::abs(s[q]) * difference * difference;
      }
      ExpectClose(out[i], expected, 10 * scale, "distance");
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
        GaussianRows(
            {rows, D, M, offset.data(), x.data(), scaled ? s.data() : nullptr, z.data(), k.data()});
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

TEST_P(LoopsOfDimension, Psi1Backward) {
  const Index D = GetParam();
  ForEachSimdTarget([&] {
    for (const Index M : {1, 7, 8, 9, 25}) {
      const Index padded = PaddedSize(M);
      RandomStream stream(5);
      const AlignedBuffer mu = Normals(D, 1, &stream), e = Normals(D, 1, &stream);
      const AlignedBuffer kappa = Normals(D, 1, &stream), z = Normals(D * padded, 1, &stream);
      AlignedBuffer psi1 = Normals(padded, 1, &stream), a = Normals(padded, 1, &stream);
      for (Index i = M; i < padded; ++i) psi1[i] = a[i] = 0;
      for (const bool linear : {false, true}) {
        const auto work = static_cast<std::size_t>(padded);
        AlignedBuffer h(work, -1), t(work, -1), a_sums(work, 1), z_sums(work * D, 2),
            sums(3 * D, 0);
        const double total = Psi1Backward(
            {D, M, 0.7, mu.data(), e.data(), linear ? kappa.data() : nullptr, psi1.data(), a.data(),
             z.data(), h.data(), t.data(), a_sums.data(), z_sums.data(), sums.data()});
        const auto kappa_of = [&](Index q) { return linear ? kappa[q] : 0.0; };
        double expected_total = 0;
        Vector slopes = Vector::Zero(M), parts = Vector::Zero(M);
        for (Index i = 0; i < M; ++i) {
          double rho = 0.7;
          for (Index q = 0; q < D; ++q) rho += kappa_of(q) * (z[q * padded + i] - mu[q]);
          parts[i] = psi1[i] * a[i];
          slopes[i] = parts[i] * rho;
          expected_total += slopes[i];
          EXPECT_NEAR(a_sums[i], 1 + psi1[i] * rho, 1e-12);
        }
        EXPECT_NEAR(total, expected_total, 1e-12);
        for (Index q = 0; q < D; ++q) {
          double tz = 0, tzz = 0, hz = 0;
          for (Index i = 0; i < M; ++i) {
            const double zi = z[q * padded + i];
            tz += slopes[i] * zi;
            tzz += slopes[i] * zi * zi;
            hz += parts[i] * zi;
            EXPECT_NEAR(z_sums[q * padded + i],
                        2 + e[q] * slopes[i] * (mu[q] - zi) + kappa_of(q) * parts[i], 1e-12);
          }
          EXPECT_NEAR(sums[3 * q], tz, 1e-11);
          EXPECT_NEAR(sums[3 * q + 1], tzz, 1e-11);
          EXPECT_NEAR(sums[3 * q + 2], hz, 1e-11);
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

template <typename T>
void PairForwardKeepsNan() {
  const AlignedVector<T> features(2, std::numeric_limits<T>::quiet_NaN());
  const AlignedVector<T> ones(16, 1);
  AlignedVector<T> E(16, 0);
  AlignedBuffer sums(3, 0.0);
  PairForward(
      PairTile<T>{1, 1, 16, features.data(), ones.data(), ones.data(), E.data(), sums.data()});
  for (const double sum : sums) EXPECT_TRUE(std::isnan(sum));
  PairForward(
      PairTile<T>{1, 1, 16, features.data(), ones.data(), ones.data(), nullptr, sums.data()});
  EXPECT_TRUE(std::isnan(sums[0]));
}

TEST(Loops, NotANumberIsNotHidden) {
  ForEachSimdTarget([] {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const AlignedBuffer x(1, nan);
    const AlignedBuffer z(8, 0.5);
    const AlignedBuffer offset(1, 0.0);
    AlignedBuffer k(8, 0.0);
    GaussianRows({1, 1, 3, offset.data(), x.data(), nullptr, z.data(), k.data()});
    for (Index i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(k[i])) << i;
    PairForwardKeepsNan<double>();
    PairForwardKeepsNan<float>();
  });
}

}  // namespace
}  // namespace fathom::se_ard
