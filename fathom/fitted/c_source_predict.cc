#include "fathom/fitted/c_source.h"

namespace fathom::c_source {

const char* const kEnter = R"(
static inline double @warp_at(const @warp *warp, double at, double *slope) {
  int low = 0, high = @KNOTS - 1;
  *slope = 1;
  if (at <= warp->knots[0]) return warp->scores[0] + at - warp->knots[0];
  if (at >= warp->knots[high]) return warp->scores[high] + at - warp->knots[high];
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (warp->knots[middle] <= at) low = middle;
    else high = middle;
  }
  *slope = (warp->scores[high] - warp->scores[low]) / (warp->knots[high] - warp->knots[low]);
  return warp->scores[low] + *slope * (at - warp->knots[low]);
}

/* Fills m and v with what the expert of a member sees of a row: its columns and, where it builds on other members, the
   trend [OUTPUTS] in the units of the table. */
static inline void @enter(const @member *member, const double *x, const double *x_std, const double *trend, double *m,
                          double *v) {
  int c, r, t, w;
  for (r = 0; r < member->raw; ++r) m[r] = v[r] = 0;
  for (c = 0; c < @INPUTS; ++c) {
    const @column *column = &member->inputs[c];
    const int missing = x[c] != x[c];
    const double spread = x_std && !missing ? x_std[c] / column->scale : 0;
    const double column_m = missing ? 0 : (x[c] - column->mean) / column->scale;
    const double column_v = missing ? column->missing_var : spread * spread;
    if (!member->directions) {
      m[c] = column_m;
      v[c] = column_v;
      continue;
    }
    for (r = 0; r < member->raw; ++r) {
      const double along = member->directions[c * member->raw + r];
      m[r] += column_m * along;
      v[r] += column_v * along * along;
    }
  }
  for (w = 0; w < member->warp_count; ++w) {
    const @warp *warp = &member->warps[w];
    const int missing = x[warp->column] != x[warp->column];
    double slope;
    const double value = @warp_at(warp, m[warp->column], &slope);
    m[@INPUTS + w] = missing ? 0 : value;
    v[@INPUTS + w] = missing ? member->inputs[warp->column].missing_var : slope * slope * v[warp->column];
  }
  for (t = 0; trend && t < @OUTPUTS; ++t) {
    m[member->raw + t] = (trend[t] - member->outputs[t].mean) / member->outputs[t].scale;
    v[member->raw + t] = 0;
  }
}
)";

const char* const kSay = R"(
/* Mean and variance of target t of one component. */
static inline void @moments_of(const @component *part, int t, double *mean, double *var) {
  const @column *unit;
  *mean = part->m[t];
  *var = part->v[t];
  if (part->shaped) @shape_moments(part->m, part->v, mean, var);
  if (!part->member) return;
  unit = &part->member->outputs[t];
  @observe(part->member->parameters, part->m, part->v, t, mean, var);
  *mean = unit->mean + unit->scale * *mean;
  *var *= unit->scale * unit->scale;
}

static inline double @tail_of(const @component *part, int t, double at, int upper) {
  const @column *unit;
  if (part->shaped) return @shape_tail(part->m, part->v, at, upper);
  if (!part->member) return @normal_tail(at, part->m[t], part->v[t], upper);
  unit = &part->member->outputs[t];
  return @tail(part->member->parameters, part->m, part->v, t, (at - unit->mean) / unit->scale, upper);
}

/* Mean and variance of target t of a mixture, whose weights need not sum to 1. */
static inline void @moments_of_all(const @component *parts, int count, int t, double *mean, double *var) {
  double sum = 0, of_mean = 0, of_var = 0;
  int i;
  for (i = 0; i < count; ++i) {
    double m, v;
    @moments_of(&parts[i], t, &m, &v);
    sum += parts[i].weight;
    of_mean += parts[i].weight * m;
  }
  of_mean /= sum;
  for (i = 0; i < count; ++i) {
    double m, v;
    @moments_of(&parts[i], t, &m, &v);
    of_var += parts[i].weight / sum * (v + (m - of_mean) * (m - of_mean));
  }
  *mean = of_mean;
  *var = of_var;
}

/* How much of the variance of a member's functions comes from cells that are missing or uncertain, [OUTPUTS] in squared
   units of the table. The member builds on no other. */
static inline void @from_cells(const @member *member, const double *x, const double *x_std, double *cells) {
  @component parts[@MOST_PARTS];
  double m[@MOST_INPUTS], v[@MOST_INPUTS], mean, var;
  int certain, count, i, r, t;
  @enter(member, x, x_std, NULL, m, v);
  for (t = 0; t < @OUTPUTS; ++t) cells[t] = 0;
  for (r = 0; r < member->raw && v[r] == 0; ++r) continue;
  if (r == member->raw) return;
  for (certain = 0; certain < 2; ++certain) {
    count = member->ask(member, m, v, parts);
    for (i = 0; i < count; ++i) {
      parts[i].member = NULL;
      parts[i].shaped = 0;
    }
    for (t = 0; t < @OUTPUTS; ++t) {
      @moments_of_all(parts, count, t, &mean, &var);
      cells[t] += certain ? -var : var;
    }
    for (r = 0; r < member->raw; ++r) v[r] = 0;
  }
  for (t = 0; t < @OUTPUTS; ++t) cells[t] = fmax(cells[t], 0) * member->outputs[t].scale * member->outputs[t].scale;
}

/* The same of member k where others build on it, else 0. */
static inline void @cells_for_others(int k, const double *x, const double *x_std, double *cells) {
  int j, i, t;
  for (t = 0; t < @OUTPUTS; ++t) cells[t] = 0;
  for (j = k + 1; j < @MEMBERS; ++j) {
    for (i = 0; i < @members[j].trend_count; ++i) {
      if (@members[j].trend[i] != k) continue;
      @from_cells(&@members[k], x, x_std, cells);
      return;
    }
  }
}

/* What one member says of a row, of the targets if `observed`, of the functions behind them otherwise. Of members that
   others build on, means and the variances from cells [MEMBERS, OUTPUTS] are read; `cells` may be null where only means
   are asked for. A weight of 0 counts as 1. */
static inline int @say(const @member *member, const double *x, const double *x_std, int observed, const double *means,
                       const double *cells, @component *out) {
  double m[@MOST_INPUTS], v[@MOST_INPUTS], trend[@OUTPUTS], off[@OUTPUTS];
  int paths, count = 0, i, s, t;
  for (t = 0; t < @OUTPUTS; ++t) {
    trend[t] = off[t] = 0;
    for (i = 0; i < member->trend_count; ++i) {
      trend[t] += means[member->trend[i] * @OUTPUTS + t] / member->trend_count;
      if (cells) off[t] += sqrt(cells[member->trend[i] * @OUTPUTS + t]) / member->trend_count;
    }
  }
  @enter(member, x, x_std, member->trend_count > 0 ? trend : NULL, m, v);
  paths = member->ask(member, m, v, out);
  count = paths;
  for (s = member->share_count - 1; s >= 0; --s) { /* the first share last: it stays in the places of the paths */
    for (i = 0; i < paths; ++i) {
      @component *part = s > 0 ? &out[count + i] : &out[i];
      const double own = member->shares[s].weight;
      *part = out[i];
      part->weight *= own > 0 ? own : 1;
      part->member = observed && !@GAUSSIAN ? member : NULL;
      part->shaped = 0;
      for (t = 0; !part->member && t < @OUTPUTS; ++t) {
        const @column *unit = &member->outputs[t];
        const double noise = observed ? member->shares[s].noise_scale * member->parameters[t] : 0;
        part->v[t] = unit->scale * unit->scale * (part->v[t] + noise) + off[t] * off[t];
        if (member->trend_count > 0) part->m[t] += (trend[t] - unit->mean) / unit->scale;
        part->m[t] = unit->mean + unit->scale * part->m[t];
      }
    }
    if (s > 0) count += paths;
  }
  return count;
}
)";

const char* const kMixture = R"(
/* The mixture of all members. */
static inline int @distribution(const double *x, const double *x_std, int observed, @component *out) {
  double means[@MEMBERS * @OUTPUTS] = {0}, cells[@MEMBERS * @OUTPUTS] = {0}, var;
  int count = 0, k, t;
  for (k = 0; k < @MEMBERS; ++k) {
    const @member *member = &@members[k];
    const int own = @say(member, x, x_std, observed, means, cells, out + count);
    @cells_for_others(k, x, x_std, &cells[k * @OUTPUTS]);
    for (t = 0; t < @OUTPUTS; ++t) @moments_of_all(out + count, own, t, &means[k * @OUTPUTS + t], &var);
    if (member->shares[0].weight > 0) count += own; /* otherwise others build on it, and that is all */
  }
  return count;
}
)";

const char* const kPredictNumbers = R"(
static inline void @both(const double *x, const double *x_std, int observed, double *mean, double *std) {
  @component parts[@MOST_PARTS];
  const int count = @distribution(x, x_std, observed, parts);
  int t;
  for (t = 0; t < @OUTPUTS; ++t) { /* only now: they may be the arrays of x and x_std */
    @moments_of_all(parts, count, t, &mean[t], &std[t]);
    std[t] = sqrt(std[t]);
  }
}

/* Of the noise-free function. */
static inline void @latent(const double *x, const double *x_std, double *mean, double *std) {
  @both(x, x_std, 0, mean, std);
}

/* Of the target itself, noise included. */
static inline void @predict(const double *x, const double *x_std, double *mean, double *std) {
  @both(x, x_std, 1, mean, std);
}

/* Below 0 while P(y <= at) has not reached the probability. In the smaller tail, where it keeps its accuracy. */
static inline double @excess(const @component *parts, int count, int t, double at, double probability) {
  const int upper = probability > 0.5;
  double tail = 0, sum = 0;
  int i;
  for (i = 0; i < count; ++i) {
    tail += parts[i].weight * @tail_of(&parts[i], t, at, upper);
    sum += parts[i].weight;
  }
  return upper ? 1 - probability - tail / sum : tail / sum - probability;
}

/* The quantile of target t. */
static inline double @quantile_of(const @component *parts, int count, int t, double probability) {
  double mean, var, std, low, high, step;
  @moments_of_all(parts, count, t, &mean, &var);
  std = sqrt(var);
  if (!(std - std == 0 && mean - mean == 0 && probability > 0 && probability < 1)) return NAN;
  if (@COUNTS) { /* the first step of the grid at which the probability is reached */
    low = high = fmax(floor((mean - @origin) / @step), -1);
    if (std == 0) return @origin + @step * floor((mean - @origin) / @step + 0.5);
    for (step = 1; low >= 0 && @excess(parts, count, t, @origin + @step * low, probability) >= 0; step *= 2) {
      high = low;
      low = fmax(low - step, -1);
    }
    for (step = 1; @excess(parts, count, t, @origin + @step * high, probability) < 0; step *= 2) {
      low = high;
      high += step;
    }
    while (high - low > 1) {
      const double middle = floor(0.5 * (low + high));
      if (@excess(parts, count, t, @origin + @step * middle, probability) >= 0) high = middle;
      else low = middle;
    }
    return @origin + @step * high;
  }
  if (std == 0) return mean;
  if (@JUMPS && @excess(parts, count, t, nextafter(@jump, -HUGE_VAL), probability) < 0 &&
      @excess(parts, count, t, @jump, probability) >= 0)
    return @jump;
  low = high = mean;
  for (step = std; @excess(parts, count, t, low, probability) >= 0; step *= 2) {
    high = low;
    low -= step;
  }
  for (step = std; @excess(parts, count, t, high, probability) < 0; step *= 2) {
    low = high;
    high += step;
  }
  for (;;) {
    const double middle = low + 0.5 * (high - low);
    if (!(middle > low && middle < high)) return middle;
    if (@excess(parts, count, t, middle, probability) >= 0) high = middle;
    else low = middle;
  }
}

/* y [count, OUTPUTS]: the quantiles of the targets at `count` probabilities between 0 and 1. */
static inline void @quantiles(const double *x, const double *x_std, int count, const double *probabilities, double *y) {
  @component parts[@MOST_PARTS];
  const int size = @distribution(x, x_std, 1, parts);
  int i, t;
  for (i = 0; i < count; ++i)
    for (t = 0; t < @OUTPUTS; ++t) y[i * @OUTPUTS + t] = @quantile_of(parts, size, t, probabilities[i]);
}
)";

const char* const kPredictClasses = R"(
/* P(y = class) [CLASSES]. */
static inline void @probabilities(const double *x, const double *x_std, double *p) {
  double sum[@CLASSES], m[@MOST_INPUTS], v[@MOST_INPUTS];
  @component parts[@MOST_PARTS];
  int c, k, i;
  for (c = 0; c < @CLASSES; ++c) sum[c] = 0;
  for (k = 0; k < @MEMBERS; ++k) {
    int paths;
    @enter(&@members[k], x, x_std, NULL, m, v);
    paths = @members[k].ask(&@members[k], m, v, parts);
    for (i = 0; i < paths; ++i) {
      double own[@CLASSES];
      if (!@members[k].probabilities) @class_probabilities(parts[i].m, parts[i].v, own);
      for (c = 0; @members[k].probabilities && c < @CLASSES; ++c) own[c] = parts[i].m[c];
      for (c = 0; c < @CLASSES; ++c) sum[c] += @members[k].shares[0].weight * parts[i].weight * own[c];
    }
  }
  for (c = 0; c < @CLASSES; ++c) p[c] = sum[c]; /* only now: it may be the array of x or x_std */
}

/* The most probable class, counted from 0. */
static inline int @classify(const double *x, const double *x_std) {
  double p[@CLASSES];
  int best = 0, c;
  @probabilities(x, x_std, p);
  for (c = 1; c < @CLASSES; ++c)
    if (p[c] > p[best]) best = c;
  return best;
}
)";

}  // namespace fathom::c_source
