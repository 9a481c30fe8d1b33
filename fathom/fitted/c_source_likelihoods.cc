#include "fathom/fitted/c_source.h"

namespace fathom::c_source {

const char* const kNormal = R"(
/* P(y <= at), or P(y > at) if `upper`, of a Gaussian. */
static inline double @normal_tail(double at, double mean, double var, int upper) {
  if (var == 0) return (at >= mean) != upper ? 1 : 0;
  return 0.5 * erfc((upper ? at - mean : mean - at) / sqrt(2 * var));
}
)";

const char* const kPanels = R"(
/* Gauss-Legendre quadrature on panels that are no longer than the step of any zone that they touch. */
typedef struct @zone {
  double begin, end, step;
} @zone;

static inline double @panel_end(double x, double hi, const @zone *zones, int count) {
  double end = hi;
  int i;
  for (i = 0; i < count; ++i) {
    const double next = fmax(zones[i].begin, x + zones[i].step);
    if (x < zones[i].end && next < end) end = next;
  }
  return fmax(end, nextafter(x, HUGE_VAL)); /* a step lost in rounding must not stop the march */
}
)";

const char* const kGaussian = R"(
static inline void @observe(const double *noise, const double *m, const double *v, int t, double *mean, double *var) {
  *mean = m[t];
  *var = v[t] + noise[t];
}

static inline double @tail(const double *noise, const double *m, const double *v, int t, double at, int upper) {
  return @normal_tail(at, m[t], v[t] + noise[t], upper);
}
)";

const char* const kStudentT = R"(
/* Student's t around f: parameters are the squared scales and the degrees of freedom above 2. */
static inline void @observe(const double *parameters, const double *m, const double *v, int t, double *mean, double *var) {
  *mean = m[t];
  *var = v[t] + parameters[t] * (1 + 2 / parameters[@OUTPUTS + t]);
}

/* A mean over the precision tau ~ Gamma(nu/2, nu/2), by the trapezoidal rule in log tau. */
static inline double @tail(const double *parameters, const double *m, const double *v, int t, double at, int upper) {
  const double nu = 2 + parameters[@OUTPUTS + t], h = fmin(0.35, sqrt(2 / nu) / 1.25);
  double sum = 0, total = 0;
  int side;
  for (side = 0; side < 2; ++side) {
    const double step = side ? -h : h;
    double u = side ? -h : 0;
    for (;; u += step) {
      const double tau = exp(u), exponent = 0.5 * nu * (u - (tau - 1)), weight = exp(exponent);
      if (!(exponent >= -38)) break;
      total += weight;
      sum += weight * @normal_tail(at, m[t], v[t] + parameters[t] / tau, upper);
    }
  }
  return sum / total;
}
)";

const char* const kHeteroscedastic = R"(
/* Noise whose logarithm is a function g of its own, behind those of the targets. */
static inline void @observe(const double *parameters, const double *m, const double *v, int t, double *mean, double *var) {
  *mean = m[t];
  *var = v[t] + parameters[t] * exp(m[@OUTPUTS + t] + 0.5 * v[@OUTPUTS + t]);
}

/* A mean over g by the trapezoidal rule. */
static inline double @tail(const double *parameters, const double *m, const double *v, int t, double at, int upper) {
  const double sd = sqrt(v[@OUTPUTS + t]), level = parameters[t] * exp(m[@OUTPUTS + t]), h = fmin(0.35, sd / 1.5);
  const int count = sd > 0 ? (int)ceil(8.7 * sd / h) : 0;
  double sum = 0, total = 0;
  int i;
  for (i = -count; i <= count; ++i) {
    const double weight = sd > 0 ? exp(-0.5 * (i * h / sd) * (i * h / sd)) : 1;
    total += weight;
    sum += weight * @normal_tail(at, m[t], v[t] + level * exp(i * h), upper);
  }
  return fmin(sum / total, 1);
}
)";

const char* const kPoisson = R"(
/* Counts with the rate parameter e^f. */
static inline void @observe(const double *parameters, const double *m, const double *v, int t, double *mean, double *var) {
  *mean = parameters[t] * exp(m[t] + 0.5 * v[t]);
  *var = *mean + expm1(v[t]) * *mean * *mean;
}

/* log of the density of log G, G ~ Gamma(shape), at a distance u from its mode, relative to the mode. */
static inline double @fall(double shape, double u) { return -shape * (expm1(u) - u); }

/* P(y <= k) is P(G > rate), G ~ Gamma(k + 1): a mean of normal tails over log G. */
static inline double @tail(const double *parameters, const double *m, const double *v, int t, double at, int upper) {
  const double shape = floor(at) + 1, width = 1 / sqrt(shape), sd = fmax(sqrt(v[t]), 1e-10), reach = 8.7 * sd;
  const double step = m[t] + log(parameters[t]) - log(shape);
  double z = shape, mu = 0, lo = -width, hi = width, sum = 0, begin, end, height;
  @zone zones[3];
  int i;
  if (!(shape >= 1)) return upper ? 1 : 0;
  /* Gamma(z) = sqrt(2 pi / z) (z / e)^z e^mu; Stirling's series for mu has an error of 1e-17 from 20 on. */
  for (; z < 20; z += 1) mu += (z + 0.5) * log1p(1 / z) - 1;
  mu += (1 / 12.0 - (1 / 360.0 - (1 / 1260.0 - (1 / 1680.0 - 1 / (1188 * z * z)) / (z * z)) / (z * z)) / (z * z)) / z;
  height = sqrt(shape / 6.283185307179586) * exp(-mu);
  while (@fall(shape, lo) > -38) lo *= 1.3;
  while (@fall(shape, hi) > -38) hi *= 1.3;
  if (upper) hi = fmin(hi, step + reach);
  else lo = fmax(lo, step - reach);
  zones[0].begin = lo, zones[0].end = hi, zones[0].step = 2;
  zones[1].begin = -10 * width, zones[1].end = hi, zones[1].step = 2.5 * width;
  zones[2].begin = step - reach, zones[2].end = step + reach, zones[2].step = 2.5 * sd;
  for (begin = lo; begin < hi; begin = end) {
    double half;
    end = @panel_end(begin, hi, zones, 3);
    half = 0.5 * (end - begin);
    for (i = 0; i < 16; ++i) {
      const double u = begin + half * (1 + @nodes[2 * i]);
      sum += half * @nodes[2 * i + 1] * height * exp(@fall(shape, u)) * @normal_tail(u, step, sd * sd, upper);
    }
  }
  return fmin(sum, 1);
}
)";

const char* const kProbit = R"(
static inline void @class_probabilities(const double *m, const double *v, double *p) {
  p[0] = @normal_tail(0, *m, 1 + *v, 0);
  p[1] = @normal_tail(0, *m, 1 + *v, 1);
}
)";

const char* const kRobustMax = R"(
/* P(f_c is the largest): the integral over z = (f_c - m_c) / s_c of a density times normal cdfs. */
static inline double @largest(int c, const double *m, const double *v) {
  const double reach = 8.3, step = @CLASSES > 4 ? 2 : 3, s_c = sqrt(fmax(v[c], 1e-16));
  double lo = -reach, P = 0, begin, end;
  @zone zones[@CLASSES];
  int i, j, count = 1;
  zones[0].begin = -reach, zones[0].end = reach, zones[0].step = step;
  for (j = 0; j < @CLASSES; ++j) {
    const double s = sqrt(fmax(v[j], 1e-16)), centre = (m[j] - m[c]) / s_c, width = reach * s / s_c;
    if (j == c) continue;
    zones[count].begin = centre - width, zones[count].end = centre + width, zones[count].step = step * s / s_c;
    ++count;
    lo = fmax(lo, centre - width);
  }
  for (begin = lo; begin < reach; begin = end) {
    double half;
    end = @panel_end(begin, reach, zones, count);
    half = 0.5 * (end - begin);
    for (i = 0; i < 16; ++i) {
      const double z = begin + half * (1 + @nodes[2 * i]);
      double product = half * @nodes[2 * i + 1] * exp(-0.5 * z * z) / sqrt(6.283185307179586);
      for (j = 0; j < @CLASSES; ++j)
        if (j != c) product *= @normal_tail(m[c] + s_c * z, m[j], fmax(v[j], 1e-16), 0);
      P += product;
    }
  }
  return fmin(P, 1);
}

/* One in a thousand labels is any other class. */
static inline void @class_probabilities(const double *m, const double *v, double *p) {
  int c;
  for (c = 0; c < @CLASSES; ++c) {
    const double P = @largest(c, m, v);
    p[c] = (1 - 1e-3) * P + 1e-3 / (@CLASSES - 1) * (1 - P);
  }
}
)";

// With a place t, e^f_c / sum_j e^f_j is the integral of e^(f_c - t) prod_j exp(-e^(f_j - t)), so
// that the outputs separate. Both rules have an error of exp(-pi^2 / h), as in softmax.cc.
const char* const kSoftmax = R"(
/* E[exp(-y)] and E[y exp(-y)], y = e^x, x ~ N(mean, s^2), by the trapezoidal rule. */
static inline void @race(double mean, double s, double *none, double *one) {
  const double h = fmin(0.3, s / 1.25);
  const int count = s > 0 ? (int)ceil(7.8 * s / h) : 0;
  double total = 0;
  int i;
  *none = *one = 0;
  for (i = -count; i <= count; ++i) {
    const double weight = s > 0 ? exp(-0.5 * (i * h / s) * (i * h / s)) : 1;
    const double y = exp(fmin(mean + i * h, 100)), term = weight * exp(-fmin(y, 700));
    total += weight;
    *none += term;
    *one += term * fmin(y, 700);
  }
  *none /= total;
  *one /= total;
}

/* The mean of e^f_c / sum e^f: the integral over t of e^(f_c - t) times the product of exp(-e^(f_j - t)). */
static inline void @class_probabilities(const double *m, const double *v, double *p) {
  const double h = 0.25;
  double lo = -HUGE_VAL, hi = -HUGE_VAL, t, sum = 0;
  int c, j;
  for (c = 0; c < @CLASSES; ++c) {
    const double s = sqrt(v[c]);
    lo = fmax(lo, m[c] - 7.8 * s - 4);
    hi = fmax(hi, m[c] + fmin(0.5 * s * s, 7.8 * s) + 34);
    p[c] = 0;
  }
  for (t = lo; t < hi; t += h) {
    double none[@CLASSES], one[@CLASSES];
    for (c = 0; c < @CLASSES; ++c) @race(m[c] - t, sqrt(v[c]), &none[c], &one[c]);
    for (c = 0; c < @CLASSES; ++c) {
      double product = one[c];
      for (j = 0; j < @CLASSES; ++j)
        if (j != c) product *= none[j];
      p[c] += product;
    }
  }
  for (c = 0; c < @CLASSES; ++c) sum += p[c];
  for (c = 0; c < @CLASSES; ++c) p[c] /= sum;
}
)";

}  // namespace fathom::c_source
