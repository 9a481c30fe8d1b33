// A Gaussian process that predicts a row from its nearest training rows alone. With the neighbours
// Z of a row x, their targets y_Z and the scaled distance r2 = sum_d (x_d - z_d)^2 / l_d^2:
//   k = v c(Z, x),  K = v c(Z, Z) + s I,
//   mean = k' K^-1 y_Z,   var = v + s - k' K^-1 k                              [neighbour-moments]
// where v is the variance, s the noise and c the correlation. A training row is predicted without
// itself, so the sum of log N(y_n; mean_n, var_n) over training rows measures prediction, and the
// hyperparameters maximise it:
//   dF = sum_n g_m dmean + g_v dvar,  w = K^-1 k,  a = K^-1 y_Z,               [neighbour-gradient]
//   dmean = a' dk - w' dK a,   dvar = dv + ds - 2 w' dk + w' dK w.
// One row costs O(m^3) for m neighbours, however many rows the table has. A smooth function with M
// pseudo-points sees a table from afar; this one sees what only the neighbours know.
//
// A cell with variance adds it to the squared distance in its column: the row stands off by its own
// standard deviation in a direction of its own, so K stays positive definite.
#ifndef FATHOM_NEIGHBOUR_NEIGHBOUR_GP_H_
#define FATHOM_NEIGHBOUR_NEIGHBOUR_GP_H_

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/neighbour/correlation.h"

namespace fathom {

struct NeighbourGp {
  Correlation correlation = Correlation::kMatern12;
  Vector lengthscales;  // [D]
  double variance = 1;
  double noise = 0.1;
};

// [rows, m]: the neighbours of each row, by their place among the training rows. A row with fewer
// than m ends with -1.
using Neighbours = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// What a prediction rests on. Any of the spans may be empty.
struct NeighbourData {
  const Moments& x;  // [N, D], the training rows
  // [N, views]: the targets of neighbours, as a row sees them. There is one view, unless targets
  // were made with the help of rows that must not see them. An unknown target is NaN in all views,
  // and its row is nobody's neighbour.
  const Matrix& y;
  std::span<const std::int32_t> view_of_row = {};  // [N]: of training rows; queries see the first
  std::span<const double> own = {};                // [N]: a row's own target; y.col(0) if empty
  std::span<const double> weights = {};            // [N]: how many rows it counts as; empty: one
  bool certain = false;  // true: no cell of x has a variance, so none need be looked at

  double Own(Index n) const { return own.empty() ? y(n, 0) : own[static_cast<std::size_t>(n)]; }
  double Weight(Index n) const {
    return weights.empty() ? 1 : weights[static_cast<std::size_t>(n)];
  }
  bool Known(Index n) const { return !std::isnan(Own(n)); }
  std::vector<bool> Unknown() const {  // [N], or empty: none
    std::vector<bool> unknown(static_cast<std::size_t>(x.rows()));
    bool any = false;
    for (Index n = 0; n < x.rows(); ++n) {
      unknown[static_cast<std::size_t>(n)] = !Known(n);
      any = any || !Known(n);
    }
    return any ? unknown : std::vector<bool>();
  }
  Index View(Index n) const {
    return view_of_row.empty() ? 0 : view_of_row[static_cast<std::size_t>(n)];
  }
};

// The mean and variance of y at rows of `queries` (those that `rows` lists, in its order), whose
// neighbours are the rows of `neighbours` in the same order. `queries` may be data.x itself: then
// each row has its own view. Rows do not depend on each other. Throws NumericalError if a
// prediction is not a number.
struct NeighbourQueries {
  const Moments& x;
  std::span<const Index> rows;
  const Neighbours& neighbours;
  bool single = false;  // moments in single precision, in half of the time
};
// Whether single precision is enough: the larger v / s, the more a rounding error counts. Mean and
// standard deviation are then right to 1e-6 of the standard deviation (tested).
bool SingleIsEnough(const NeighbourGp& gp, const NeighbourData& data);
void NeighbourMoments(const NeighbourGp& gp, const NeighbourData& data,
                      const NeighbourQueries& queries, double* mean, double* var);

// The gradient of F with respect to the logarithms of the hyperparameters.
struct NeighbourGradient {
  Vector log_lengthscales;  // [D]
  double log_variance = 0;
  double log_noise = 0;
};

// Returns F = the sum of the training rows' log densities, each times its weight, and adds its
// gradient. The neighbours are held fixed; none of them may be the row itself.
double LeaveOneOut(const NeighbourGp& gp, const NeighbourData& data, std::span<const Index> rows,
                   const Neighbours& neighbours, NeighbourGradient* gradient);

}  // namespace fathom

#endif  // FATHOM_NEIGHBOUR_NEIGHBOUR_GP_H_
