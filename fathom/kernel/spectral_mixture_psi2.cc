#include <cmath>
#include <vector>

#include "fathom/kernel/spectral_mixture_rows.h"

namespace fathom::spectral_mixture {

namespace {

using RowArray = Eigen::Array<double, 1, Eigen::Dynamic>;
using Rows = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MapRow = Eigen::Map<RowArray>;

// One of the two cosines of a dimension: its phase is base + z_i of_i + z_j of_j.
struct Wave {
  double W = 0;          // W_q +- W_r
  double amplitude = 0;  // half the damping
  double base = 0, of_i = 0;
  double cos_i = 0, sin_i = 0;  // of the part that does not depend on j
};

// One dimension of a pair of components, for one row.
struct Dimension {
  double A = 0, B = 0, H = 0, h = 0, mu = 0, s = 0;
  double W_q = 0, W_r = 0;
  Wave waves[2];  // sum, difference
};

// A pair of components for one row, then, by Select, pseudo-input i against those of number
// j < count. Reused by all rows of a thread.
class Pair {
 public:
  void Prepare(const Components& c, Index q, Index r, const Row& x) {
    dimensions_.resize(static_cast<std::size_t>(c.D));
    cosj_.resize(2 * c.D, c.M);
    sinj_.resize(2 * c.D, c.M);
    scale_ = c.weights[q] * c.weights[r];
    for (Index d = 0; d < c.D; ++d) {
      Dimension& at = dimensions_[d];
      at.A = c.A(q, d);
      at.B = c.A(r, d);
      at.H = at.A + at.B;
      at.h = 1 / (1 + at.H * x.s[d]);
      at.mu = x.mu[d];
      at.s = x.s[d];
      at.W_q = c.W(q, d);
      at.W_r = c.W(r, d);
      scale_ *= std::sqrt(at.h);
      const double a = at.A / at.H;
      const double b = at.B / at.H;
      for (int sign = 0; sign < 2; ++sign) {
        Wave& wave = at.waves[sign];
        const double W_r = sign == 0 ? at.W_r : -at.W_r;
        wave.W = at.W_q + W_r;
        wave.amplitude = 0.5 * std::exp(-0.5 * wave.W * wave.W * at.s * at.h);
        wave.base = wave.W * at.h * at.mu;
        wave.of_i = -at.W_q * (at.h * a + b) + W_r * a * (1 - at.h);
        const double of_j = at.W_q * b * (1 - at.h) - W_r * (at.h * b + a);
        for (Index j = 0; j < c.M; ++j) {
          cosj_(2 * d + sign, j) = std::cos(of_j * c.z(d, j));
          sinj_(2 * d + sign, j) = std::sin(of_j * c.z(d, j));
        }
      }
    }
  }

  // Fills damping [count], the pair's scale included, and the factors T [D, count].
  void Select(const Components& c, Index i, Index count) {
    T.resize(c.D, count);
    damping.setZero(count);
    for (Index d = 0; d < c.D; ++d) {
      Dimension& at = dimensions_[d];
      const double zi = c.z(d, i);
      const auto z = c.z.row(d).head(count).array();
      const double a = at.A / at.H;
      const double b = at.B / at.H;
      damping += at.H * at.h * (at.mu - a * zi - b * z).square() + at.A * b * (zi - z).square();
      for (Wave& wave : at.waves) {
        wave.cos_i = std::cos(wave.base + wave.of_i * zi);
        wave.sin_i = std::sin(wave.base + wave.of_i * zi);
      }
      T.row(d) = Cosine(d, 0, count) + Cosine(d, 1, count);
    }
    damping = scale_ * (-0.5 * damping).exp();
  }

  // The damped waves, of the selected i.
  RowArray Cosine(Index d, int sign, Index count) const {
    const Wave& wave = dimensions_[d].waves[sign];
    return wave.amplitude * (wave.cos_i * cosj_.row(2 * d + sign).head(count) -
                             wave.sin_i * sinj_.row(2 * d + sign).head(count));
  }
  RowArray Sine(Index d, int sign, Index count) const {
    const Wave& wave = dimensions_[d].waves[sign];
    return wave.amplitude * (wave.sin_i * cosj_.row(2 * d + sign).head(count) +
                             wave.cos_i * sinj_.row(2 * d + sign).head(count));
  }
  const Dimension& dimension(Index d) const { return dimensions_[d]; }

  RowArray damping;
  Rows T;

 private:
  double scale_ = 0;
  std::vector<Dimension> dimensions_;
  Rows cosj_, sinj_;  // [2 D, M]
};

Pair& Scratch() {
  thread_local Pair pair;
  return pair;
}

}  // namespace

// psi2_ij sums over all (q, r), and swapping q with r is swapping i with j. So q <= r suffices, and
// for q = r also j <= i: psi2 = half + half', where the diagonal of q = r counts a half.
double Psi2(const Components& c, const Row& x, const Matrix& B) {
  Pair& pair = Scratch();
  double total = 0;
  for (Index q = 0; q < c.Q; ++q) {
    for (Index r = q; r < c.Q; ++r) {
      pair.Prepare(c, q, r, x);
      for (Index i = 0; i < c.M; ++i) {
        const Index count = q == r ? i + 1 : c.M;
        pair.Select(c, i, count);
        for (Index d = 0; d < c.D; ++d) pair.damping *= pair.T.row(d);
        if (q == r) pair.damping[i] *= 0.5;
        total += 2 * (pair.damping * B.row(i).head(count).array()).sum();
      }
    }
  }
  return total;
}

namespace {

// Adds one dimension's slopes. share [count] is what the pair adds to the result, X [count] its
// slope with respect to T_d. With C = X R/h^1/2 of a wave, the slopes are real parts of C times
//   A: -1/2 (s h + (tau_i + i sigma)^2),   W_q: i (tau_i + i sigma),   sigma = s h W,
//   mu: slope = -(A tau_i + B tau_j) + i W h,   s: 1/2 (slope^2 - H h),
//   z_i: A (tau_i + i sigma) - i W_q,   and likewise for r and j.
struct Place {
  Index q, r, i, d;  // the components, the pseudo-input and the dimension
};
void AddDimension(const Components& c, const Pair& pair, const Place& place, const RowArray& share,
                  const RowArray& X, const Psi2Gradient& gradient) {
  const auto& [q, r, i, d] = place;
  const Slopes& slopes = gradient.slopes;
  const Index count = share.size();
  const Dimension& at = pair.dimension(d);
  thread_local RowArray tau_i, tau_j, pull, Cr, Ci, pull_j;
  const double zi = c.z(d, i);
  const auto z = c.z.row(d).head(count).array();
  const double a = at.A / at.H;
  const double b = at.B / at.H;
  tau_j = at.h * (at.mu - a * zi - b * z);
  tau_i = tau_j - b * (zi - z);
  tau_j += a * (zi - z);
  pull = at.A * tau_i + at.B * tau_j;

  // The terms that both waves share: their C add up to `share`.
  const double sum = share.sum();
  double d_A = -0.5 * (at.s * at.h * sum + (share * tau_i.square()).sum());
  double d_B = -0.5 * (at.s * at.h * sum + (share * tau_j.square()).sum());
  double d_var = 0.5 * ((share * pull.square()).sum() - at.H * at.h * sum);
  double d_mean = -(share * pull).sum();
  double d_zi = at.A * (share * tau_i).sum();
  double d_Wq = 0;
  double d_Wr = 0;
  pull_j = at.B * share * tau_j;
  for (int sign = 0; sign < 2; ++sign) {
    const double W = at.waves[sign].W;
    const double sigma = at.s * at.h * W;
    const double side = sign == 0 ? 1 : -1;
    Cr = X * pair.Cosine(d, sign, count);
    Ci = X * pair.Sine(d, sign, count);
    const double real = Cr.sum();
    const double imaginary = Ci.sum();
    const double with_i = (Ci * tau_i).sum();
    const double with_j = (Ci * tau_j).sum();
    d_A += 0.5 * sigma * sigma * real + sigma * with_i;
    d_B += 0.5 * sigma * sigma * real + sigma * with_j;
    d_Wq -= with_i + sigma * real;
    d_Wr -= side * (with_j + sigma * real);
    d_mean -= W * at.h * imaginary;
    d_var += W * at.h * (at.A * with_i + at.B * with_j) - 0.5 * W * W * at.h * at.h * real;
    d_zi += (at.W_q - at.A * sigma) * imaginary;
    pull_j += (side * at.W_r - at.B * sigma) * Ci;
  }
  slopes.A[q * c.D + d] += d_A;
  slopes.A[r * c.D + d] += d_B;
  slopes.W[q * c.D + d] += d_Wq;
  slopes.W[r * c.D + d] += d_Wr;
  slopes.z[d * c.M + i] += d_zi;
  MapRow(slopes.z + d * c.M, count) += pull_j;
  gradient.mu[d] += d_mean;
  gradient.s[d] += d_var;
}

}  // namespace

void Psi2Backward(const Components& c, const Row& x, const Matrix& B, double g,
                  const Psi2Gradient& gradient) {
  Pair& pair = Scratch();
  thread_local RowArray weight, share, X, after;
  thread_local Rows before;
  before.resize(c.D, c.M);
  for (Index q = 0; q < c.Q; ++q) {
    for (Index r = q; r < c.Q; ++r) {
      pair.Prepare(c, q, r, x);
      for (Index i = 0; i < c.M; ++i) {
        const Index count = q == r ? i + 1 : c.M;
        pair.Select(c, i, count);
        if (q == r) pair.damping[i] *= 0.5;
        weight = g * pair.damping;
        share = weight;
        for (Index d = 0; d < c.D; ++d) share *= pair.T.row(d);
        MapRow(gradient.half + i * c.M, count) += share;
        // Turn the slopes of `half` into those of the result.
        share *= 2 * B.row(i).head(count).array();
        before.row(0).head(count) = 2 * weight * B.row(i).head(count).array();
        for (Index d = 1; d < c.D; ++d)
          before.row(d).head(count) = before.row(d - 1).head(count) * pair.T.row(d - 1);
        after.setOnes(count);
        for (Index d = c.D - 1; d >= 0; --d) {
          X = before.row(d).head(count) * after;
          AddDimension(c, pair, {q, r, i, d}, share, X, gradient);
          after *= pair.T.row(d);
        }
        const double sum = share.sum();
        gradient.slopes.weights[q] += sum / c.weights[q];
        gradient.slopes.weights[r] += sum / c.weights[r];
      }
    }
  }
}

}  // namespace fathom::spectral_mixture
