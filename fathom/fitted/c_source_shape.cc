#include "fathom/fitted/c_source.h"

namespace fathom::c_source {

const char* const kNoShape = R"(
static inline void @shape_moments(const double *m, const double *v, double *mean, double *var) {
  (void)m, (void)v, (void)mean, (void)var;
}

static inline double @shape_tail(const double *m, const double *v, double at, int upper) {
  (void)m, (void)v, (void)at, (void)upper;
  return 0;
}
)";

const char* const kShapeType = R"(
/* How the target follows from z, which may be any number. It is z on a scale that bends between `low` and `high` (`bent`
   is 1: log, 2: logit, 0: nowhere) and goes straight on outside. With a `step` it is least, least + step, ... to `most`.
   With a value apart, that has a probability of its own. With a gap, z is as much higher with a probability of its own. */
typedef struct @shape {
  int bent;
  double shift, low, high;
  double step, least, most;
  int apart;
  double value;
  double gap;
} @shape;
)";

const char* const kShape = R"(
static inline double @bent_at(double y) {
  const @shape *shape = @target;
  if (shape->bent == 1) return log(y + shape->shift);
  return log((y - shape->low + shape->shift) / (shape->high - y + shape->shift));
}

static inline double @bend_slope(double y) {
  const @shape *shape = @target;
  if (shape->bent == 1) return 1 / (y + shape->shift);
  return 1 / (y - shape->low + shape->shift) + 1 / (shape->high - y + shape->shift);
}

/* z of y. */
static inline double @bend(double y) {
  const double inside = fmin(fmax(y, @target->low), @target->high);
  if (@target->bent == 0) return y;
  return @bent_at(inside) + (y == inside ? 0 : (y - inside) * @bend_slope(inside));
}

/* y of z. */
static inline double @unbend(double z) {
  const @shape *shape = @target;
  double lowest, highest;
  if (shape->bent == 0) return z;
  lowest = @bent_at(shape->low);
  highest = @bent_at(shape->high);
  if (z <= lowest) return shape->low + (z - lowest) / @bend_slope(shape->low);
  if (z >= highest) return shape->high + (z - highest) / @bend_slope(shape->high);
  if (shape->bent == 1) return exp(z) - shape->shift;
  return shape->low - shape->shift + (shape->high - shape->low + 2 * shape->shift) / (1 + exp(-z));
}

/* P(y <= at), or P(y > at), where y is not the value apart. */
static inline double @rest_tail(double at, double m, double v, int upper) {
  const @shape *shape = @target;
  double place, on_grid;
  if (shape->step == 0) return @normal_tail(@bend(at), m, v, upper);
  place = floor((at - shape->least) / shape->step + 1e-6);
  on_grid = shape->least + place * shape->step;
  if (place < 0) return upper ? 1 : 0;
  if (on_grid >= shape->most) return upper ? 0 : 1;
  return @normal_tail(@bend(on_grid + 0.5 * shape->step), m, v, upper);
}

/* The step whose cell z lies in. */
static inline double @step_at(double z) {
  const double place = round((@unbend(z) - @target->least) / @target->step);
  return fmin(@target->least + fmax(place, 0) * @target->step, @target->most);
}

/* Mean and variance from the probability of each step between two. */
static inline void @step_moments(double m, double v, double lowest, double highest, double *mean, double *var) {
  const double step = @target->step;
  double first = 0, second = 0, below = 0, y;
  for (y = lowest; y <= highest + 1e-6 * step; y += step) {
    const double up_to = y + 0.5 * step > highest ? 1 : @rest_tail(y, m, v, 0), from = y - lowest;
    first += (up_to - below) * from;
    second += (up_to - below) * from * from;
    below = up_to;
  }
  *mean = lowest + first;
  *var = fmax(0, second - first * first);
}

/* The same where y is not the value apart. */
static inline void @rest_moments(double m, double v, double *mean, double *var) {
  const @shape *shape = @target;
  const double reach = 6.5, sd = sqrt(v);
  double sum = 0, first = 0, second = 0;
  int i;
  *mean = m;
  *var = v;
  if (shape->step > 0) {
    const double lowest = @step_at(m - reach * sd), highest = @step_at(m + reach * sd);
    if ((highest - lowest) / shape->step <= 100) {
      @step_moments(m, v, lowest, highest, mean, var);
      return;
    }
  } else if (shape->bent == 0) {
    return;
  }
  for (i = 0; i < 53; ++i) { /* the trapezoidal rule */
    const double u = reach * (2.0 * i / 52 - 1), weight = exp(-0.5 * u * u);
    double y = @unbend(m + sd * u);
    if (shape->step > 0) y = fmin(fmax(y, shape->least), shape->most);
    sum += weight;
    first += weight * y;
    second += weight * y * y;
  }
  *mean = first / sum;
  *var = fmax(0, second / sum - *mean * *mean);
}

/* Of y, from z = N(m[0], v[0]) and the probability m[1] of the value apart, or of the upper hump. */
static inline void @shape_moments(const double *m, const double *v, double *mean, double *var) {
  double of_rest, apart = @target->value, var_apart = 0, between;
  @rest_moments(m[0], v[0], &of_rest, var);
  if (@target->gap > 0) @rest_moments(m[0] + @target->gap, v[0], &apart, &var_apart);
  between = @target->apart || @target->gap > 0 ? of_rest - apart : 0;
  *mean = of_rest - m[1] * between;
  *var = (1 - m[1]) * (*var + m[1] * between * between) + m[1] * var_apart;
}

static inline double @shape_tail(const double *m, const double *v, double at, int upper) {
  const double rest = @rest_tail(at, m[0], v[0], upper);
  if (@target->gap > 0) return (1 - m[1]) * rest + m[1] * @rest_tail(at, m[0] + @target->gap, v[0], upper);
  if (!@target->apart) return rest;
  return (1 - m[1]) * rest + ((at >= @target->value) != upper ? m[1] : 0);
}
)";

const char* const kGiveNoShape = R"(
static inline void @give_shape(const double *x, const double *x_std, const double *centre, @component *parts) {
  (void)x, (void)x_std, (void)centre, (void)parts;
}
)";

const char* const kNoShare = R"(
static inline double @value_share(const double *x, const double *x_std, double centre) {
  (void)x, (void)x_std, (void)centre;
  return 0;
}
)";

const char* const kShareLogit = R"(
/* The probability of the value apart, or of the upper hump, from a first guess. */
static inline double @share_of(double guess) {
  const double q = fmin(fmax(guess, 0.005), 0.995);
  return 1 / (1 + exp(-(@share_logit[0] + @share_logit[1] * log(q / (1 - q)))));
}
)";

const char* const kShareOfTwo = R"(
/* Of two values: the centre lies so far on the way from one to the other. */
static inline double @value_share(const double *x, const double *x_std, double centre) {
  (void)x, (void)x_std;
  return @share_of((centre - @target->least) / (@target->value - @target->least));
}
)";

const char* const kShareOfMembers = R"(
/* Members of its own predict the probability of the value apart, or of the upper hump. */
static inline double @value_share(const double *x, const double *x_std, double centre) {
  double means[@SHARE_MEMBERS], var, guess = 0;
  @component parts[@MOST_PARTS];
  int k, s;
  (void)centre;
  for (k = 0; k < @SHARE_MEMBERS; ++k) {
    const @member *member = &@share_members[k];
    const int own = @say(member, x, x_std, 1, means, NULL, parts);
    @moments_of_all(parts, own, 0, &means[k], &var);
    for (s = 0; s < member->share_count; ++s) guess += member->shares[s].weight * means[k];
  }
  return @share_of(guess);
}
)";

const char* const kGiveShape = R"(
/* Makes z of the calibrated components y. */
static inline void @give_shape(const double *x, const double *x_std, const double *centre, @component *parts) {
  const double share = @value_share(x, x_std, centre[0]);
  int s;
  for (s = 0; s < @SCALES; ++s) {
    parts[s].shaped = 1;
    parts[s].m[1] = share;
    parts[s].v[1] = 0;
  }
}
)";

}  // namespace fathom::c_source
