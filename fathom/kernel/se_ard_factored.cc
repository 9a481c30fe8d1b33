#include <algorithm>
#include <cmath>
#include <numbers>

#include "fathom/kernel/se_ard_loops.h"
#include "fathom/kernel/se_ard_projection.h"

namespace fathom::se_ard {

// Of input q of one row, about the row's mean: zeta_i = z_i - mu. With c = 1 / (l^2 + 2 s),
//   c (zbar - mu)^2 + (z_i - z_j)^2 / 4 l^2 = alpha (zeta_i^2 + zeta_j^2) - beta zeta_i zeta_j,
// so psi2_ij = variance^2 prod (l^2 c)^1/2 k_i k_j exp(sum beta zeta_i zeta_j) with
// log k_i = -sum alpha zeta_i^2. Where s = 0, beta is 0.                        [psi2-factored]
struct FactoredRows::Exponent {
  Exponent(double l, double s)
      : l2(l * l), c(1 / (l2 + 2 * s)), alpha(0.25 * (c + 1 / l2)), beta(0.5 * (1 / l2 - c)) {}

  // With respect to s and log l, from the slopes with respect to alpha and beta, and `share`, that
  // with respect to the log of all factors. Where s = 0 and only log l is asked, that to beta does
  // not matter.
  InputSlope Back(double d_alpha, double d_beta, double share) const {
    const double d_c = 0.25 * d_alpha - 0.5 * d_beta + 0.5 * share / c;
    const double d_l2 =
        -(0.25 * d_alpha + 0.5 * d_beta) / (l2 * l2) + 0.5 * share / l2 - c * c * d_c;
    return {.mean = 0, .var = -2 * c * c * d_c, .log_l = 2 * l2 * d_l2};
  }

  double l2, c, alpha, beta;
};

struct FactoredRows::Tape {
  Tape(const FactoredRows& of, const Shape& shape, Index rows, Arrays arrays)
      : E(of.backward_ ? arrays.Take(rows * TriangleSize(shape.M)) : nullptr),
        psi1(shape, rows, &arrays),
        second(arrays.Take(rows)),
        alpha(arrays.Take(shape.D)),
        log_k(arrays.Take(shape.padded)),
        columns(arrays.Take((1 + shape.D) * shape.padded)),
        products(arrays.Take((1 + shape.D) * shape.padded)),
        scratch(arrays.Take(4 * shape.padded)),
        size(arrays.size()) {}
  double* E;  // [rows, triangle], or null
  Psi1Tape psi1;
  double* second;  // [rows]  <B, psi2> without prod (l^2 c)^1/2
  // Of one row at a time:
  double* alpha;     // [D]
  double* log_k;     // [padded]
  double* columns;   // [1 + D, padded]  ones, and zeta of the inputs that are not factors alone
  double* products;  // [1 + D, padded]  first slopes of the exponent, then G columns
  double* scratch;   // [4, padded]
  Index size;
};

struct FactoredRows::Sums {
  Sums(const Shape& shape, Arrays arrays)
      : pair(arrays.Take(TriangleSize(shape.M))), psi1(shape, &arrays), size(arrays.size()) {}
  double* pair;  // [triangle]  sum_n dF/dB_ij / variance^2
  Psi1Sums psi1;
  Index size;
};

void FactoredRows::Prepare(const Shape& shape, const LatentFunction& function,
                           const ProjectionOptions& options) {
  backward_ = options.backward;
  variance_ = options.variance || options.backward;
  weights_.assign(static_cast<std::size_t>(TriangleSize(shape.M)), 0.0);
  for (Index i = 0; i < shape.M; ++i) {
    for (Index j = 0; j <= i; ++j) {
      weights_[TrianglePlace(i, j)] = shape.variance * shape.variance * (i == j ? 1 : 2) *
                                      (shape.a[i] * shape.a[j] - function.S(i, j));
    }
  }
}

Index FactoredRows::TapeSize(const Shape& shape, Index rows) const {
  return Tape(*this, shape, rows, Arrays(nullptr)).size;
}

Index FactoredRows::SumsSize(const Shape& shape) const { return Sums(shape, Arrays(nullptr)).size; }

void FactoredRows::Forward(const Shape& shape, const Psi1& psi1, const RowsIn& x,
                           double* tape_memory, double* m, double* v) const {
  const Index D = shape.D;
  const Tape tape(*this, shape, x.rows, Arrays(tape_memory));
  psi1.Forward(shape, x, tape.psi1);
  for (Index n = 0; n < x.rows; ++n) {
    const double* const mu = x.mu + n * D;
    Index inputs = 0;
    double stretch = 1;
    for (Index q = 0; q < D; ++q) {
      const double s = x.s[n * D + q];
      const Exponent exponent(shape.l[q], s);
      tape.alpha[q] = -std::numbers::log2e * exponent.alpha;
      if (s == 0) continue;
      stretch *= exponent.l2 * exponent.c;
      const double* const z = psi1.z() + q * shape.padded;
      double* const zeta = tape.columns + inputs * shape.padded;
      double* const slope = tape.products + inputs * shape.padded;
      for (Index i = 0; i < shape.padded; ++i) {
        zeta[i] = z[i] - mu[q];
        slope[i] = std::numbers::log2e * exponent.beta * zeta[i];
      }
      ++inputs;
    }
    tape.second[n] = 0;
    if (variance_) {
      SquaredDistances(D, shape.M, mu, tape.alpha, psi1.z(), tape.log_k);
      double* const E = backward_ ? tape.E + n * TriangleSize(shape.M) : nullptr;
      tape.second[n] = FactoredForward({.M = shape.M,
                                        .inputs = inputs,
                                        .log_k = tape.log_k,
                                        .slope = tape.products,
                                        .zeta = tape.columns,
                                        .weights = weights_.data(),
                                        .E = E});
    }
    psi1.Moments(shape, x, n, tape.psi1, std::sqrt(stretch) * tape.second[n], m, v);
  }
}

void FactoredRows::Backward(const Shape& shape, const Psi1& psi1, const RowsIn& x,
                            double* tape_memory, const RowSlopes& d_out, double* sums_memory,
                            const InputSlopes& d_x) const {
  const Index D = shape.D;
  const Tape tape(*this, shape, x.rows, Arrays(tape_memory));
  const Sums sums(shape, Arrays(sums_memory));
  for (Index n = 0; n < x.rows; ++n) {
    const Psi1Down row = psi1.Backward(shape, x, n, tape.psi1, d_out, sums.psi1);
    // The slope with respect to the variance of a certain input goes through its beta.
    const auto is_factor = [&](Index q) { return row.s[q] == 0 && d_x.s == nullptr; };
    double stretch = 1;
    Index columns = 1;
    std::fill_n(tape.columns, shape.padded, 1.0);
    for (Index q = 0; q < D; ++q) {
      const Exponent exponent(shape.l[q], row.s[q]);
      stretch *= exponent.l2 * exponent.c;
      if (is_factor(q)) continue;
      const double* const z = psi1.z() + q * shape.padded;
      double* const zeta = tape.columns + columns * shape.padded;
      for (Index i = 0; i < shape.padded; ++i) zeta[i] = z[i] - row.mu[q];
      ++columns;
    }
    const double g = row.d_v * std::sqrt(stretch);
    FactoredBackward({.M = shape.M,
                      .columns = columns,
                      .g = g,
                      .weights = weights_.data(),
                      .E = tape.E + n * TriangleSize(shape.M),
                      .column = tape.columns,
                      .scratch = tape.scratch,
                      .pair_sums = sums.pair,
                      .products = tape.products});
    const double share = g * tape.second[n];
    sums.psi1.log_variance[0] += row.T + 2 * share + row.d_v * shape.variance;
    Index next = 1;
    for (Index q = 0; q < D; ++q) {
      const InputSlope slope = row.Through(q);
      const Exponent exponent(shape.l[q], row.s[q]);
      const FactoredInputSums d = FactoredInputBackward(
          {.M = shape.M,
           .mu = row.mu[q],
           .alpha = exponent.alpha,
           .beta = exponent.beta,
           .z = psi1.z() + q * shape.padded,
           .d_log_k = tape.products,  // G times ones
           .G_zeta = is_factor(q) ? nullptr : tape.products + next++ * shape.padded,
           .d_z = sums.psi1.z + q * shape.padded});
      const InputSlope psi2 = exponent.Back(d.alpha, d.beta, share);
      sums.psi1.log_l[q] += slope.log_l + psi2.log_l;
      if (d_x.mu != nullptr) d_x.mu[n * D + q] += slope.mean + d.mu;
      if (d_x.s != nullptr) d_x.s[n * D + q] += slope.var + psi2.var;
    }
  }
}

void FactoredRows::Finish(const Shape& shape, const Psi1& /*psi1*/, const double* sums_memory,
                          LatentFunctionGradient* gradient) const {
  const Sums sums(shape, Arrays(const_cast<double*>(sums_memory)));  // NOLINT: read only
  Psi1::Finish(shape, sums.psi1, gradient);
  const double variance2 = shape.variance * shape.variance;
  for (Index i = 0; i < shape.M; ++i) {
    for (Index j = 0; j <= i; ++j)
      AddPairSlope(shape, i, j, variance2 * sums.pair[TrianglePlace(i, j)], gradient);
  }
}

}  // namespace fathom::se_ard
