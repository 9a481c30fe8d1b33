#include "fathom/fitted/c_source.h"

namespace fathom::c_source {

// Certain inputs (s = 0) need no psi2, and v = k(x,x) - k'Sk loses fewer digits.
const char* const kSeArd = R"(
static inline void @moments_se_ard(const @gp *gp, const double *mu, const double *s, double *m, double *v) {
  const int M = gp->points, D = gp->inputs;
  const double variance = gp->theta[0], *l = gp->theta + 1;
  double psi1[@MOST_POINTS], scale1 = variance, scale2 = variance * variance, mean = 0, var = variance;
  int i, j, q, certain = 1;
  for (q = 0; q < D; ++q) {
    certain = certain && s[q] == 0;
    scale1 /= sqrt(1 + s[q] / (l[q] * l[q]));
    scale2 /= sqrt(1 + 2 * s[q] / (l[q] * l[q]));
  }
  for (i = 0; i < M; ++i) {
    double exponent = 0;
    for (q = 0; q < D; ++q) {
      const double distance = mu[q] - gp->z[i * D + q];
      exponent -= 0.5 * distance * distance / (l[q] * l[q] + s[q]);
    }
    psi1[i] = scale1 * exp(exponent);
    mean += gp->a[i] * psi1[i];
  }
  for (i = 0; i < M; ++i) {
    const double *S = gp->S + i * (i + 1) / 2;
    for (j = 0; j <= i; ++j) {
      double exponent = 0;
      const double twice = i == j ? 1 : 2;
      if (certain) {
        var -= twice * S[j] * psi1[i] * psi1[j];
        continue;
      }
      for (q = 0; q < D; ++q) {
        const double zi = gp->z[i * D + q], zj = gp->z[j * D + q];
        const double distance = mu[q] - 0.5 * (zi + zj);
        exponent -= (zi - zj) * (zi - zj) / (4 * l[q] * l[q]) + distance * distance / (l[q] * l[q] + 2 * s[q]);
      }
      var += twice * (gp->a[i] * gp->a[j] - S[j]) * scale2 * exp(exponent);
    }
  }
  if (!certain) var -= mean * mean;
  for (q = 0; gp->w && q < D; ++q) {
    double slope = 0;
    for (i = 0; s[q] != 0 && i < M; ++i)
      slope -= gp->a[i] * psi1[i] * (mu[q] - gp->z[i * D + q]) / (l[q] * l[q] + s[q]);
    var += gp->w[q] * s[q] * (gp->w[q] + 2 * slope);
    mean += gp->w[q] * mu[q];
  }
  *m = mean;
  *v = var;
}
)";

// Here a is the slope c + w and S the matrix Q of fathom/kernel/linear_ard.h.
const char* const kLinearArd = R"(
/* Linear kernel: a [inputs] is the mean of the slope, S [inputs, inputs] the covariance of the weights. */
static inline void @moments_linear_ard(const @gp *gp, const double *mu, const double *s, double *m, double *v) {
  const int D = gp->inputs;
  double mean = 0, var = 0;
  int i, j;
  for (i = 0; i < D; ++i) {
    const double *Q = gp->S + i * (i + 1) / 2;
    mean += gp->a[i] * mu[i];
    for (j = 0; j < i; ++j) var += 2 * Q[j] * mu[i] * mu[j];
    var += Q[i] * mu[i] * mu[i] + s[i] * (Q[i] + gp->a[i] * gp->a[i]);
  }
  *m = mean;
  *v = var;
}
)";

// E[k k'] of k = k_se + A x, A = Z V, entry by entry; xhat as in
// fathom/kernel/se_linear_projection.h.
const char* const kSeLinear = R"(
static inline void @moments_se_ard_linear_ard(const @gp *gp, const double *mu, const double *s, double *m, double *v) {
  const int M = gp->points, D = gp->inputs;
  const double variance = gp->theta[0], *l = gp->theta + 1, *V = l + D;
  double psi1[@MOST_POINTS], line[@MOST_POINTS], scale1 = variance, scale2 = variance * variance, mean = 0, var = variance;
  int i, j, q, certain = 1;
  for (q = 0; q < D; ++q) {
    certain = certain && s[q] == 0;
    scale1 /= sqrt(1 + s[q] / (l[q] * l[q]));
    scale2 /= sqrt(1 + 2 * s[q] / (l[q] * l[q]));
    var += V[q] * (mu[q] * mu[q] + s[q]);
  }
  for (i = 0; i < M; ++i) {
    double exponent = 0;
    line[i] = 0;
    for (q = 0; q < D; ++q) {
      const double distance = mu[q] - gp->z[i * D + q];
      exponent -= 0.5 * distance * distance / (l[q] * l[q] + s[q]);
      line[i] += V[q] * gp->z[i * D + q] * mu[q];
    }
    psi1[i] = scale1 * exp(exponent);
    mean += gp->a[i] * (psi1[i] + line[i]);
  }
  for (i = 0; i < M; ++i) {
    const double *S = gp->S + i * (i + 1) / 2;
    for (j = 0; j <= i; ++j) {
      double exponent = 0, cross = line[i] * line[j];
      const double twice = i == j ? 1 : 2;
      if (certain) {
        var -= twice * S[j] * (psi1[i] + line[i]) * (psi1[j] + line[j]);
        continue;
      }
      for (q = 0; q < D; ++q) {
        const double zi = gp->z[i * D + q], zj = gp->z[j * D + q], r = s[q] / (l[q] * l[q] + s[q]);
        const double distance = mu[q] - 0.5 * (zi + zj);
        exponent -= (zi - zj) * (zi - zj) / (4 * l[q] * l[q]) + distance * distance / (l[q] * l[q] + 2 * s[q]);
        cross += V[q] * (zj * psi1[i] * (mu[q] + r * (zi - mu[q])) + zi * psi1[j] * (mu[q] + r * (zj - mu[q])));
        cross += V[q] * V[q] * zi * zj * s[q];
      }
      var += twice * (gp->a[i] * gp->a[j] - S[j]) * (scale2 * exp(exponent) + cross);
    }
  }
  if (!certain) var -= mean * mean;
  for (q = 0; gp->w && q < D; ++q) {
    double slope = 0;
    for (i = 0; s[q] != 0 && i < M; ++i)
      slope += gp->a[i] * (V[q] * gp->z[i * D + q] - psi1[i] * (mu[q] - gp->z[i * D + q]) / (l[q] * l[q] + s[q]));
    var += gp->w[q] * s[q] * (gp->w[q] + 2 * slope);
    mean += gp->w[q] * mu[q];
  }
  *m = mean;
  *v = var;
}
)";

const char* const kSpectralMixture = R"(
/* psi1 of one component, pseudo-input and dimension: h^1/2 exp(...) times the cosine of its phase; *slope is its
   derivative with respect to mu. */
static inline double @wave(double A, double W, double delta, double s, double *slope) {
  const double h = 1 / (1 + A * s), phase = W * h * delta;
  const double size = sqrt(h) * exp(-0.5 * h * (A * delta * delta + W * W * s));
  *slope = size * h * (-A * delta * cos(phase) - W * sin(phase));
  return size * cos(phase);
}

/* psi2 of one dimension for the components with A, W_a and B, W_b: half the sum of two damped cosines. */
static inline double @wave_pair(double A, double B, double W_a, double W_b, double mu, double s, double zi, double zj) {
  const double H = A + B, h = 1 / (1 + H * s), centred = mu - (A * zi + B * zj) / H, gap = zi - zj;
  const double tau_i = h * centred - gap * B / H, tau_j = h * centred + gap * A / H;
  const double damping = -0.5 * (H * h * centred * centred + gap * gap * A * B / H);
  const double sum = W_a + W_b, difference = W_a - W_b;
  return 0.5 * sqrt(h) *
         (exp(damping - 0.5 * h * s * sum * sum) * cos(W_a * tau_i + W_b * tau_j) +
          exp(damping - 0.5 * h * s * difference * difference) * cos(W_a * tau_i - W_b * tau_j));
}

static inline void @moments_spectral_mixture(const @gp *gp, const double *mu, const double *s, double *m, double *v) {
  const double two_pi = 6.283185307179586;
  const int M = gp->points, D = gp->inputs, Q = gp->components;
  const double *weights = gp->theta, *means = weights + Q, *variances = means + Q * D;
  double psi1[@MOST_POINTS], slope[@MOST_INPUTS], mean = 0, var = 0;
  int i, j, d, e, q, r, certain = 1;
  for (d = 0; d < D; ++d) {
    certain = certain && s[d] == 0;
    slope[d] = 0;
  }
  for (q = 0; q < Q; ++q) var += weights[q];
  for (i = 0; i < M; ++i) {
    psi1[i] = 0;
    for (q = 0; q < Q; ++q) {
      double product = weights[q];
      for (d = 0; d < D; ++d) {
        double unused;
        product *= @wave(two_pi * two_pi * variances[q * D + d], two_pi * means[q * D + d], mu[d] - gp->z[i * D + d],
                         s[d], &unused);
      }
      psi1[i] += product;
      for (d = 0; gp->w && d < D; ++d) {
        double of_d = gp->a[i] * weights[q];
        for (e = 0; s[d] != 0 && e < D; ++e) {
          double derivative;
          const double value = @wave(two_pi * two_pi * variances[q * D + e], two_pi * means[q * D + e],
                                     mu[e] - gp->z[i * D + e], s[e], &derivative);
          of_d *= e == d ? derivative : value;
        }
        slope[d] += of_d;
      }
    }
    mean += gp->a[i] * psi1[i];
  }
  for (i = 0; i < M; ++i) {
    const double *S = gp->S + i * (i + 1) / 2;
    for (j = 0; j <= i; ++j) {
      double psi2 = 0;
      if (certain) psi2 = psi1[i] * psi1[j];
      for (q = 0; !certain && q < Q; ++q) {
        for (r = 0; r < Q; ++r) {
          double product = weights[q] * weights[r];
          for (d = 0; d < D; ++d)
            product *= @wave_pair(two_pi * two_pi * variances[q * D + d], two_pi * two_pi * variances[r * D + d],
                                  two_pi * means[q * D + d], two_pi * means[r * D + d], mu[d], s[d],
                                  gp->z[i * D + d], gp->z[j * D + d]);
          psi2 += product;
        }
      }
      var += (i == j ? 1 : 2) * ((certain ? 0 : gp->a[i] * gp->a[j]) - S[j]) * psi2;
    }
  }
  if (!certain) var -= mean * mean;
  for (d = 0; gp->w && d < D; ++d) {
    var += gp->w[d] * s[d] * (gp->w[d] + 2 * slope[d]);
    mean += gp->w[d] * mu[d];
  }
  *m = mean;
  *v = var;
}
)";

}  // namespace fathom::c_source
