// A straight line with an honest error bar: ridge regression whose penalty is chosen by leaving out
// each row in turn, which costs nothing extra. With the centred rows X and X'X = Q diag(e) Q':
//   w = Q diag(1 / (e + penalty)) Q'X'y,   h_n = 1/N + sum_r (X Q)_nr^2 / (e_r + penalty),
//   left-out error_n = (y_n - fit_n) / (1 - h_n),  g_n = 1 / (1 - h_n),
//   noise s: the mean of error_n^2 / g_n                                                    [ridge]
// Rows that are copies of each other are left out together: h_n is then the sum over the c_n
// copies, and g_n = 1 + h_n / (c_n (1 - h_n)).
#ifndef FATHOM_LINEAR_RIDGE_H_
#define FATHOM_LINEAR_RIDGE_H_

#include <cstdint>
#include <vector>

#include "fathom/base/types.h"

namespace fathom {

struct Ridge {
  Matrix weights;      // [D, targets]
  Vector intercept;    // [targets], at the centre
  Vector centre;       // [D]
  Matrix directions;   // [D, R] Q
  Vector eigenvalues;  // [R] e
  Vector penalty;      // [targets]
  Vector noise;        // [targets] s
  double rows = 0;     // N

  Index inputs() const { return weights.rows(); }
  Index targets() const { return weights.cols(); }
};

struct RidgeFit {
  Ridge ridge;
  Moments left_out;  // [N, targets]: every row as predicted without itself and its copies
  Vector counts;     // [N]: what each row and its copies have counted as
};

// A y that is NaN is not known, and guessed by the line itself until both agree. `weights` [N], or
// empty: a row counts as so many. Uncertain cells count with their means, and their rows teach as
// much less as their errors must be larger. With more than 1000 columns and rows nothing but the
// mean of y is learnt: it would take too long. `copies` are those of FindCopies
// (neighbour/search.h), or empty: each row is the only one of its kind.
RidgeFit FitRidge(const Moments& x, const Matrix& y, const Vector& weights = {},
                  const std::vector<std::int32_t>& copies = {});

// [N, N]: in column n, the means of all rows of one target by the line without row n,
//   mean_m - c_n (1 / N + x_m' Q diag(1 / (e + penalty)) Q' x_n) left-out error_n        [ridge]
// where row n counts as c_n, its copies included. x and y are those of the fit.
Matrix MeansWithoutEach(const RidgeFit& fit, const Moments& x, const Matrix& y, Index target);

// Mean and variance of y [N, targets]; of the line alone without the noise if `latent`.
Moments PredictRidge(const Ridge& ridge, const Moments& x, bool latent = false);

// [N, N]: the covariance of the line of one target at several rows; its diagonal is the variance
// that PredictRidge gives if `latent`.
Matrix RidgeCovariance(const Ridge& ridge, const Moments& x, Index target);

}  // namespace fathom

#endif  // FATHOM_LINEAR_RIDGE_H_
