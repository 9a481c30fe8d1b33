#include "fathom/fitted/c_source.h"

namespace fathom::c_source {

const char* const kTypes = R"(
/* A latent function f(x) = w'x + g(x), g a sparse GP with pseudo-inputs z, weights a = K^-1 m and
   S = K^-1 - K^-1 V K^-1 (lower triangle, row by row). */
typedef struct @gp {
  int points, inputs, components;
  const double *theta, *z, *a, *S, *w; /* w: null if there is no linear mean */
} @gp;

typedef struct @layer {
  int inputs, outputs, skip; /* skip: the model's own inputs come after those from below */
  const @gp *gps;
  const double *noise; /* null in the last layer */
} @layer;

typedef struct @column {
  double mean, scale, missing_var;
} @column;

/* The columns, standardised, enter the first layer along `directions` [INPUTS, raw], or as they are where that is null.
   Networks with paths let every path through the hidden layers at a point of its own, [paths, units] standard deviations
   from the mean. The network counts `share` in the mixture, and `wide_share` under more noise. */
typedef struct @network {
  double share, wide_share;
  int raw, layer_count, paths, units;
  const @column *inputs, *outputs;
  const double *directions, *points, *weights, *noise;
  const @layer *layers;
} @network;
)";

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

const char* const kPredict = R"(
/* What the first layer sees of a row. */
static inline void @enter(const @network *network, const double *x, const double *x_std, double *m, double *v) {
  int c, r;
  for (r = 0; r < network->raw; ++r) m[r] = v[r] = 0;
  for (c = 0; c < @INPUTS; ++c) {
    const @column *column = &network->inputs[c];
    const int missing = x[c] != x[c];
    const double spread = x_std && !missing ? x_std[c] / column->scale : 0;
    const double column_m = missing ? 0 : (x[c] - column->mean) / column->scale;
    const double column_v = missing ? column->missing_var : spread * spread;
    if (!network->directions) {
      m[c] = column_m;
      v[c] = column_v;
      continue;
    }
    for (r = 0; r < network->raw; ++r) {
      const double along = network->directions[c * network->raw + r];
      m[r] += column_m * along;
      v[r] += column_v * along * along;
    }
  }
}

/* One layer: m and v [MOST_INPUTS] are the moments of its inputs, which become those of its outputs. */
static inline void @rise(const @network *network, int l, const double *raw_m, const double *raw_v, double *m, double *v) {
  const @layer *layer = &network->layers[l];
  const int below = layer->inputs - (layer->skip ? network->raw : 0);
  double out_m[@MOST_OUTPUTS], out_v[@MOST_OUTPUTS];
  int c, d;
  for (c = 0; layer->skip && c < network->raw; ++c) {
    m[below + c] = raw_m[c];
    v[below + c] = raw_v[c];
  }
  for (d = 0; d < layer->outputs; ++d) {
    @MOMENTS(&layer->gps[d], m, v, &out_m[d], &out_v[d]);
    if (out_v[d] < 0) out_v[d] = 0; /* rounding; NaN stays NaN */
    if (layer->noise) out_v[d] += layer->noise[d];
  }
  for (d = 0; d < layer->outputs; ++d) {
    m[d] = out_m[d];
    v[d] = out_v[d];
  }
}

/* Adds a Gaussian N(m, v) to the mixture of one target, whose weight was `before`. */
static inline void @add(double before, double weight, double m, double v, double *mean, double *var) {
  const double part = weight / (before + weight), off = m - *mean;
  *mean += part * off;
  *var += part * (v - *var + (1 - part) * off * off);
}

static inline void @mix(const double *x, const double *x_std, int observed, double *mean, double *std) {
  double raw_m[@MOST_INPUTS], raw_v[@MOST_INPUTS], first_m[@MOST_INPUTS], first_v[@MOST_INPUTS];
  double m[@MOST_INPUTS], v[@MOST_INPUTS], mixed_m[@OUTPUTS], mixed_v[@OUTPUTS], sum = 0;
  int n, l, d, p;
  for (d = 0; d < @OUTPUTS; ++d) mixed_m[d] = mixed_v[d] = 0;
  for (n = 0; n < @NETWORKS; ++n) {
    const @network *network = &@networks[n];
    @enter(network, x, x_std, raw_m, raw_v);
    for (d = 0; d < network->raw; ++d) {
      first_m[d] = raw_m[d];
      first_v[d] = raw_v[d];
    }
    @rise(network, 0, raw_m, raw_v, first_m, first_v);
    for (p = 0; p < (network->paths > 0 ? network->paths : 1); ++p) {
      const double weight = network->paths > 0 ? network->weights[p] : 1;
      const double *point = network->paths > 0 ? network->points + p * network->units : NULL;
      int width = network->layers[0].outputs;
      for (d = 0; d < width; ++d) {
        m[d] = first_m[d];
        v[d] = first_v[d];
      }
      for (l = 1; l < network->layer_count; ++l) {
        for (d = 0; point && d < width; ++d) {
          m[d] += sqrt(v[d]) * *point++;
          v[d] = 0;
        }
        @rise(network, l, raw_m, raw_v, m, v);
        width = network->layers[l].outputs;
      }
      for (d = 0; d < @OUTPUTS; ++d) {
        const double scale = network->outputs[d].scale, unit = scale * scale;
        const double noise = observed ? network->noise[d] : 0, own = network->share * weight;
        const double wide = network->wide_share * weight, at = network->outputs[d].mean + scale * m[d];
        if (own > 0) @add(sum, own, at, unit * (v[d] + noise), &mixed_m[d], &mixed_v[d]);
        if (wide > 0) @add(sum + own, wide, at, unit * (v[d] + @WIDE_NOISE * noise), &mixed_m[d], &mixed_v[d]);
      }
      sum += (network->share + network->wide_share) * weight;
    }
  }
  for (d = 0; d < @OUTPUTS; ++d) { /* only now: they may be the arrays of x and x_std */
    mean[d] = mixed_m[d];
    std[d] = sqrt(mixed_v[d]);
  }
}

/* Of the noise-free function. */
static inline void @latent(const double *x, const double *x_std, double *mean, double *std) {
  @mix(x, x_std, 0, mean, std);
}

/* Of the target itself, noise included. */
static inline void @predict(const double *x, const double *x_std, double *mean, double *std) {
  @mix(x, x_std, 1, mean, std);
}
)";

}  // namespace fathom::c_source
