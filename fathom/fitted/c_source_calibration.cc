#include "fathom/fitted/c_source.h"

namespace fathom::c_source {

const char* const kNoLocalNoise = R"(
static inline void @widen(const double *x, const double *x_std, const double *centre, double *var) {
  (void)x, (void)x_std, (void)centre, (void)var;
}
)";

const char* const kLocalNoise = R"(
/* Multiplies the variances by what the errors of the nearest rows say. */
static inline void @widen(const double *x, const double *x_std, const double *centre, double *var) {
  double m[@MOST_INPUTS], v[@MOST_INPUTS];
  @component log_scale;
  int t;
  @enter(@calibrated, x, x_std, centre, m, v);
  @ask_neighbours(@calibrated, m, v, &log_scale);
  for (t = 0; t < @OUTPUTS; ++t) var[t] *= exp(2 * log_scale.m[t]);
}
)";

const char* const kNoSeen = R"(
static inline void @recall(const double *x, const double *x_std, double *centre, double *var) {
  (void)x, (void)x_std, (void)centre, (void)var;
}
)";

const char* const kSeen = R"(
/* The training has seen rows with the same inputs: what it knows of them. */
static inline void @recall(const double *x, const double *x_std, double *centre, double *var) {
  double m[@MOST_INPUTS], v[@MOST_INPUTS];
  int c, n, t;
  @enter(@calibrated, x, x_std, NULL, m, v);
  for (c = 0; c < @calibrated->raw; ++c)
    if (v[c] != 0) return;
  for (n = 0; n < @SEEN; ++n) {
    const double *row = @seen_x + (size_t)n * @calibrated->raw;
    for (c = 0; c < @calibrated->raw && row[c] == m[c]; ++c) {
    }
    if (c < @calibrated->raw) continue;
    for (t = 0; t < @OUTPUTS; ++t) {
      const @column *unit = &@calibrated->outputs[t];
      centre[t] = unit->mean + unit->scale * @seen_mean[n * @OUTPUTS + t];
      var[t] = unit->scale * unit->scale * @seen_var[n * @OUTPUTS + t];
    }
    return;
  }
}
)";

const char* const kNoBeyond = R"(
static inline void @clip(const double *x, double *inside) {
  int c;
  for (c = 0; c < @INPUTS; ++c) inside[c] = x[c];
}

static inline void @go_beyond(const double *x, const double *inside, const double *x_std, double *centre, double *var) {
  (void)x, (void)inside, (void)x_std, (void)centre, (void)var;
}
)";

const char* const kBeyond = R"(
/* Moves a row to the edge of the training rows and the margin around them. */
static inline void @clip(const double *x, double *inside) {
  int c;
  for (c = 0; c < @INPUTS; ++c) inside[c] = x[c] < @low[c] ? @low[c] : x[c] > @high[c] ? @high[c] : x[c];
}

/* From the centre and variance at the edge to those beyond it: along a straight line, and ever wider. */
static inline void @go_beyond(const double *x, const double *inside, const double *x_std, double *centre, double *var) {
  double m[@MOST_INPUTS], edge[@MOST_INPUTS], v[@MOST_INPUTS], square = 0, distance;
  int c, t, moved = 0;
  for (c = 0; c < @INPUTS; ++c) moved = moved || (x[c] == x[c] && x[c] != inside[c]);
  if (!moved) return;
  @enter(@calibrated, x, x_std, NULL, m, v);
  @enter(@calibrated, inside, x_std, NULL, edge, v);
  for (c = 0; c < @calibrated->raw; ++c) {
    const double off = (m[c] - edge[c]) / @beyond_lengthscales[c];
    square += off * off;
  }
  distance = sqrt(square);
  for (t = 0; t < @OUTPUTS; ++t) {
    const @column *unit = &@calibrated->outputs[t];
    const double at_edge = (centre[t] - unit->mean) / unit->scale;
    double there = at_edge, on_line = @beyond_intercept[t], at_line = on_line;
    double growth = @beyond_growth[t] * pow(distance, @beyond_power[0]);
    if (@beyond_limit[0] > 0 && growth > @beyond_limit[0]) growth = @beyond_limit[0];
    for (c = 0; c < @calibrated->raw; ++c) {
      on_line += m[c] * @beyond_slope[c * @OUTPUTS + t];
      at_line += edge[c] * @beyond_slope[c * @OUTPUTS + t];
    }
    if (@BEYOND_COURSE > 0) there += on_line - at_line;
    if (@BEYOND_COURSE > 1) there += (1 - exp(-distance)) * (at_line - at_edge);
    centre[t] = unit->mean + unit->scale * there;
    var[t] += unit->scale * unit->scale * growth * growth;
  }
}
)";

const char* const kCalibration = R"(
/* The calibrated prediction: all members' means averaged, with the spread that left-out rows have shown. Of the functions
   behind the targets, the mixture of all members. */
static inline int @distribution(const double *x, const double *x_std, int observed, @component *out) {
  double means[@MEMBERS * @OUTPUTS] = {0}, vars[@MEMBERS * @OUTPUTS], weights[@MEMBERS], centre[@OUTPUTS], var[@OUTPUTS];
  double cells[@MEMBERS * @OUTPUTS] = {0}, inside[@INPUTS];
  int count = 0, k, s, t;
  @clip(x, inside);
  for (k = 0; k < @MEMBERS; ++k) {
    const @member *member = &@members[k];
    const int own = @say(member, observed ? inside : x, x_std, observed, means, cells, out + count);
    @cells_for_others(k, observed ? inside : x, x_std, &cells[k * @OUTPUTS]);
    for (t = 0; t < @OUTPUTS; ++t)
      @moments_of_all(out + count, own, t, &means[k * @OUTPUTS + t], &vars[k * @OUTPUTS + t]);
    weights[k] = 0;
    for (s = 0; s < member->share_count; ++s) weights[k] += member->shares[s].weight;
    if (!observed && weights[k] > 0) count += own;
  }
  if (!observed) return count;
  for (t = 0; t < @OUTPUTS; ++t) {
    centre[t] = var[t] = 0;
    for (k = 0; k < @MEMBERS; ++k) centre[t] += weights[k] * means[k * @OUTPUTS + t];
    for (k = 0; k < @MEMBERS; ++k) {
      const double off = means[k * @OUTPUTS + t] - centre[t];
      var[t] += weights[k] * (vars[k * @OUTPUTS + t] + off * off);
    }
  }
  @widen(inside, x_std, centre, var);
  @recall(x, x_std, centre, var);
  @go_beyond(x, inside, x_std, centre, var);
  for (s = 0; s < @SCALES; ++s) {
    out[s].member = NULL;
    out[s].shaped = 0;
    out[s].weight = @shares[s];
    for (t = 0; t < @OUTPUTS; ++t) {
      out[s].m[t] = centre[t];
      out[s].v[t] = fmax(@scales[s] * @scales[s] * var[t], @floors[t] * @floors[t]);
    }
  }
  @give_shape(x, x_std, centre, out);
  return @SCALES;
}
)";

}  // namespace fathom::c_source
