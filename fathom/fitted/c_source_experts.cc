#include "fathom/fitted/c_source.h"

namespace fathom::c_source {

const char* const kTypes = R"(
typedef struct @column {
  double mean, scale, missing_var;
} @column;

/* A curve that a column takes part in a second time: straight between its knots, of slope 1 beyond them. */
typedef struct @warp {
  int column;
  const double *knots, *scores; /* [KNOTS] */
} @warp;

typedef struct @share {
  double weight, noise_scale; /* which multiplies the variance of the noise */
} @share;

/* A part of a mixture: Gaussian functions with a weight. Where `member` is null they are the targets themselves, in the
   units of the table, unless the target is `shaped`; otherwise the likelihood says how the targets of that member follow
   from them. */
typedef struct @component {
  const struct @member *member;
  int shaped;
  double weight, m[@FUNCTIONS], v[@FUNCTIONS];
} @component;

/* The columns, standardised, and their `warps` behind them come to the expert along `directions` [INPUTS, raw], or as they are where that is null. If
   it builds on other members, the average of their means comes behind them, and the expert predicts what they leave
   over. The member counts once for each of its `shares` in the mixture, each with its own noise. */
typedef struct @member {
  int (*ask)(const struct @member *member, const double *m, const double *v, @component *out);
  const void *expert;
  int raw;
  const @column *inputs, *outputs;
  const double *directions, *parameters; /* parameters: of the likelihood */
  int warp_count;
  const @warp *warps;
  int probabilities; /* whether the expert's functions are the probabilities of classes */
  int share_count;
  @share shares[@MOST_SHARES];
  int trend_count;
  const int *trend;
} @member;
)";

const char* const kNetworkTypes = R"(
/* A latent function f(x) = w'x + g(x), g a sparse GP with pseudo-inputs z, weights a = K^-1 m and
   S = K^-1 - K^-1 V K^-1 (lower triangle, row by row). */
typedef struct @gp {
  void (*moments)(const struct @gp *gp, const double *mu, const double *s, double *m, double *v);
  int points, inputs, components;
  const double *theta, *z, *a, *S, *w; /* w: null if there is no linear mean */
} @gp;

typedef struct @layer {
  int inputs, outputs, skip; /* skip: the network's own inputs come after those from below */
  const @gp *gps;
  const double *noise; /* null in the last layer */
} @layer;

/* Networks with paths let every path through the hidden layers at a point of its own, [paths, units] standard deviations
   from the mean. */
typedef struct @network {
  int raw, layer_count, paths, units;
  const double *points, *weights;
  const @layer *layers;
} @network;
)";

const char* const kNetwork = R"(
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
    const @gp *gp = &layer->gps[d];
    gp->moments(gp, m, v, &out_m[d], &out_v[d]);
    if (out_v[d] < 0) out_v[d] = 0; /* rounding; NaN stays NaN */
    if (layer->noise) out_v[d] += layer->noise[d];
  }
  for (d = 0; d < layer->outputs; ++d) {
    m[d] = out_m[d];
    v[d] = out_v[d];
  }
}

static inline int @ask_network(const @member *member, const double *raw_m, const double *raw_v, @component *out) {
  const @network *network = (const @network *)member->expert;
  const int paths = network->paths > 0 ? network->paths : 1;
  double first_m[@MOST_INPUTS], first_v[@MOST_INPUTS], m[@MOST_INPUTS], v[@MOST_INPUTS];
  int l, d, p;
  for (d = 0; d < network->raw; ++d) {
    first_m[d] = raw_m[d];
    first_v[d] = raw_v[d];
  }
  @rise(network, 0, raw_m, raw_v, first_m, first_v);
  for (p = 0; p < paths; ++p) {
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
    out[p].weight = network->paths > 0 ? network->weights[p] : 1;
    for (d = 0; d < width; ++d) {
      out[p].m[d] = m[d];
      out[p].v[d] = v[d];
    }
  }
  return paths;
}
)";

const char* const kLine = R"(
/* A straight line through `centre`, with the eigenvectors [inputs, rank] of the rows that it was fitted to. */
typedef struct @line {
  int inputs, rank;
  double rows;
  const double *weights, *intercept, *centre, *vectors, *eigenvalues, *penalty, *noise;
} @line;

static inline int @ask_line(const @member *member, const double *m, const double *v, @component *out) {
  const @line *line = (const @line *)member->expert;
  double leverage[@OUTPUTS];
  int c, r, t;
  for (t = 0; t < @OUTPUTS; ++t) {
    out->m[t] = line->intercept[t];
    out->v[t] = 0;
    leverage[t] = 1 / line->rows;
    for (c = 0; c < line->inputs; ++c) {
      const double weight = line->weights[c * @OUTPUTS + t];
      out->m[t] += (m[c] - line->centre[c]) * weight;
      out->v[t] += v[c] * weight * weight;
    }
  }
  for (r = 0; r < line->rank; ++r) {
    double along = 0;
    for (c = 0; c < line->inputs; ++c) along += (m[c] - line->centre[c]) * line->vectors[c * line->rank + r];
    for (t = 0; t < @OUTPUTS; ++t) leverage[t] += along * along / (line->eigenvalues[r] + line->penalty[t]);
  }
  for (t = 0; t < @OUTPUTS; ++t) out->v[t] += line->noise[t] * leverage[t];
  out->weight = 1;
  return 1;
}
)";

const char* const kLogistic = R"(
/* Logistic regression: weights [inputs, CLASSES]. */
typedef struct @logistic {
  int inputs;
  const double *weights, *intercept;
} @logistic;

static inline int @ask_logistic(const @member *member, const double *m, const double *v, @component *out) {
  const @logistic *line = (const @logistic *)member->expert;
  double top = -HUGE_VAL, sum = 0;
  int c, k;
  for (k = 0; k < @CLASSES; ++k) {
    double score = line->intercept[k], var = 0;
    for (c = 0; c < line->inputs; ++c) {
      const double weight = line->weights[c * @CLASSES + k];
      score += m[c] * weight;
      var += v[c] * weight * weight;
    }
    out->m[k] = score / sqrt(1 + 3.141592653589793 / 8 * var);
    out->v[k] = 0;
    top = fmax(top, out->m[k]);
  }
  for (k = 0; k < @CLASSES; ++k) sum += out->m[k] = exp(out->m[k] - top);
  for (k = 0; k < @CLASSES; ++k) out->m[k] /= sum;
  out->weight = 1;
  return 1;
}
)";

const char* const kTrees = R"(
/* A row goes to the next node if its cell in `column` is at most `value`, else to `right`; a leaf has the column -1.
   A missing cell goes to the next node if `missing` is 1, to `right` if it is 2, and both ways if it is 0. */
typedef struct @node {
  int column, right, missing;
  double value;
} @node;

/* One sum of trees for each target. */
typedef struct @trees {
  int count;
  double base;
  const int *roots;
  const @node *nodes;
} @trees;

/* A cell with a variance goes both ways. */
static inline double @descend(const @node *nodes, int n, const double *m, const double *v) {
  while (nodes[n].column >= 0) {
    const double off = nodes[n].value - m[nodes[n].column], var = v[nodes[n].column];
    if (nodes[n].missing && m[nodes[n].column] == 0 && var == 1) {
      n = nodes[n].missing == 1 ? n + 1 : nodes[n].right;
      continue;
    }
    if (var > 0) {
      const double left = 0.5 * erfc(-off / sqrt(2 * var));
      return left * @descend(nodes, n + 1, m, v) + (1 - left) * @descend(nodes, nodes[n].right, m, v);
    }
    n = off >= 0 ? n + 1 : nodes[n].right;
  }
  return nodes[n].value;
}

static inline int @ask_trees(const @member *member, const double *m, const double *v, @component *out) {
  const @trees *trees = (const @trees *)member->expert;
  int t, b;
  for (t = 0; t < @OUTPUTS; ++t) {
    out->m[t] = trees[t].base;
    out->v[t] = 0;
    for (b = 0; b < trees[t].count; ++b) out->m[t] += @descend(trees[t].nodes, trees[t].roots[b], m, v);
  }
  out->weight = 1;
  return 1;
}
)";

const char* const kNeighbours = R"(
/* A GP that sees the `count` nearest rows alone; one for each target. */
typedef struct @local_gp {
  int roughness; /* of Matern, times 2; 0: squared exponential */
  double variance, noise, mean;
  const double *inverse; /* [x_columns + trend_columns]: of the lengthscales */
  const double *off;     /* [rows]: how far the rows' own variances put them off; null: not at all */
  const double *y;       /* [rows]; NAN where it is not known: the row is then nobody's neighbour */
} @local_gp;

/* Rows of inputs x and, behind them, of trends. x_var and row_weights may be null. */
typedef struct @neighbours {
  int rows, x_columns, trend_columns, count;
  const double *x, *trend, *x_var, *row_weights;
  const @local_gp *gps;
} @neighbours;

static inline double @cell(const @neighbours *all, int n, int q) {
  return q < all->x_columns ? all->x[(size_t)n * all->x_columns + q]
                            : all->trend[(size_t)n * all->trend_columns + q - all->x_columns];
}

static inline double @cell_var(const @neighbours *all, int n, int q) {
  return all->x_var && q < all->x_columns ? all->x_var[(size_t)n * all->x_columns + q] : 0;
}

/* The places of the nearest rows, nearest first, by looking at all of them. Among more than 32,768 rows of many columns
   fathom looks at a part of them only, and may take others, a little further away. */
static inline int @find(const @neighbours *all, const @local_gp *gp, const double *m, int *near) {
  const int columns = all->x_columns + all->trend_columns;
  double distances[@MOST_NEAR];
  int found = 0, n, q, i;
  for (n = 0; n < all->rows; ++n) {
    double sum = 0;
    if (gp->y[n] != gp->y[n]) continue;
    for (q = 0; q < columns; ++q) {
      const double off = @cell(all, n, q) * gp->inverse[q] - m[q] * gp->inverse[q];
      sum = fma(off, off, sum); /* fathom adds in another order: ties may be broken in another way */
    }
    if (gp->off) sum = fma(gp->off[n], gp->off[n], sum);
    if (!(sum < (found < all->count ? HUGE_VAL : distances[found - 1]))) continue;
    i = found < all->count ? found++ : found - 1;
    for (; i > 0 && sum < distances[i - 1]; --i) {
      distances[i] = distances[i - 1];
      near[i] = near[i - 1];
    }
    distances[i] = sum;
    near[i] = n;
  }
  return found;
}

static inline double @correlation(int roughness, double r2) {
  const double r = sqrt(roughness * r2);
  switch (roughness) {
    case 0: return exp(-0.5 * r2);
    case 1: return exp(-r);
    case 3: return (1 + r) * exp(-r);
    default: return (1 + r + r * r / 3) * exp(-r);
  }
}

/* The squared distance of row i and row j, or, if j < 0, of row i and the row that is asked for. */
static inline double @distance(const @neighbours *all, const @local_gp *gp, const double *m, const double *v, int i,
                               int j) {
  const int columns = all->x_columns + all->trend_columns;
  double r2 = 0;
  int q;
  for (q = 0; q < columns; ++q) {
    const double inverse = gp->inverse[q], at_i = (@cell(all, i, q) - m[q]) * inverse;
    const double off = j < 0 ? at_i : at_i - (@cell(all, j, q) - m[q]) * inverse;
    r2 += off * off + (@cell_var(all, i, q) + (j < 0 ? v[q] : @cell_var(all, j, q))) * inverse * inverse;
  }
  return r2;
}

static inline int @ask_neighbours(const @member *member, const double *m, const double *v, @component *out) {
  const @neighbours *all = (const @neighbours *)member->expert;
  double L[@MOST_NEAR * (@MOST_NEAR + 1) / 2], a[@MOST_NEAR], w[@MOST_NEAR];
  int near[@MOST_NEAR], t, i, j, k;
  for (t = 0; t < @OUTPUTS; ++t) {
    const @local_gp *gp = &all->gps[t];
    const int found = @find(all, gp, m, near);
    double mean = gp->mean, var = gp->variance;
    for (i = 0; i < found; ++i) {
      double *row = L + i * (i + 1) / 2;
      for (j = 0; j <= i; ++j) { /* Cholesky; the diagonal holds its inverse */
        const double *other = L + j * (j + 1) / 2;
        double sum = i == j ? gp->variance + gp->noise / (all->row_weights ? all->row_weights[near[i]] : 1)
                            : gp->variance * @correlation(gp->roughness, @distance(all, gp, m, v, near[i], near[j]));
        for (k = 0; k < j; ++k) sum -= row[k] * other[k];
        row[j] = i == j ? 1 / sqrt(sum) : sum * other[j];
      }
      a[i] = gp->y[near[i]];
      w[i] = gp->variance * @correlation(gp->roughness, @distance(all, gp, m, v, near[i], -1));
      for (j = 0; j < i; ++j) {
        a[i] -= row[j] * a[j];
        w[i] -= row[j] * w[j];
      }
      a[i] *= row[i];
      w[i] *= row[i];
      mean += a[i] * w[i];
      var -= w[i] * w[i];
    }
    out->m[t] = mean;
    out->v[t] = var < 0 ? 0 : var;
  }
  out->weight = 1;
  return 1;
}
)";

}  // namespace fathom::c_source
