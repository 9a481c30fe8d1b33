// The loops over the units of a hidden layer between two matrix products, in vectors. A layer's
// outputs h are [rows, width] inside a matrix whose rows are h_stride apart, because a column of
// ones follows them; all other arrays are [rows, width] without gaps.
#ifndef FATHOM_BNN_UNIT_LOOPS_H_
#define FATHOM_BNN_UNIT_LOOPS_H_

#include "fathom/base/types.h"

namespace fathom::bnn {

struct UnitShape {
  Index rows = 0, width = 0, h_stride = 0;
};

// h <- max(0, h); NaN stays NaN, so that a diverged chain is noticed.
void Rectify(const UnitShape& shape, double* h);
// d <- d where h > 0, else 0.
void RectifyBackward(const UnitShape& shape, const double* h, double* d);
// From an output layer of one unit with weights w [width] and slopes d_f [rows] down through the
// ReLU: d_ni <- d_f_n w_i where h_ni > 0, else 0.
void RectifyOuter(const UnitShape& shape, const double* d_f, const double* w, const double* h,
                  double* d);

// The local reparameterisation. The moments [moment_rows, width] hold for rows n, n + moment_rows,
// n + 2 moment_rows, ...: all draws of a row share those of the first layer.
struct LocalUnits {
  UnitShape shape;
  Index moment_rows = 0;
  const double *mean, *var, *eps;
};
//   sd = max(sqrt(var), 1e-12),  a = mean + sd eps,  h = max(0, a) or a
// `squares` is h^2, laid out like h; `ratio` is eps / sd, for the way back.
void DrawLocalUnits(const LocalUnits& units, bool rectify, double* h, double* squares,
                    double* ratio);

enum class Slope { kRelu, kTanh };
// What DrawLocalUnits left behind.
struct DrawnUnits {
  UnitShape shape;
  Slope slope;
  const double *h, *ratio;
};
// d_mean and d_h2 are the slopes with respect to h by way of the mean, and half of those with
// respect to h^2 by way of the variance:  d = (d_mean + d_h2 h) slope(h),  e = d ratio.
void LocalUnitsBackward(const DrawnUnits& units, const double* d_mean, const double* d_h2,
                        double* d, double* e);
// The same below an output layer of one unit: d_mean = d_f_n mu_i, d_h2 = e_f_n var_i.
struct LocalOutput {
  const double *mu, *var;   // [width]
  const double *d_f, *e_f;  // [rows]
};
void LocalUnitsBackward(const DrawnUnits& units, const LocalOutput& output, double* d, double* e);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_UNIT_LOOPS_H_
