// psi1 of the SE-ARD kernel, and the linear mean: what both ways of uncertain rows have in common.
#ifndef FATHOM_KERNEL_SE_ARD_PSI1_H_
#define FATHOM_KERNEL_SE_ARD_PSI1_H_

#include "fathom/kernel/se_ard_rows.h"

namespace fathom::se_ard {

struct Psi1Tape {
  Psi1Tape(const Shape& shape, Index rows, Arrays* arrays)
      : psi1(arrays->Take(rows * shape.padded)),
        inverse(arrays->Take(rows * shape.D)),
        offset(arrays->Take(rows)),
        m(arrays->Take(rows)),
        t(arrays->Take(shape.padded)),
        h(arrays->Take(shape.padded)),
        kappa(arrays->Take(shape.D)),
        sums(arrays->Take(3 * shape.D)) {}
  double* psi1;     // [rows, padded]
  double* inverse;  // [rows, D]  1 / (l^2 + s)
  double* offset;   // [rows]  log of psi1's prefactor
  double* m;        // [rows]  psi1 a
  double *t, *h;    // [padded]  of one row, in the backward pass: see Psi1Backward
  double* kappa;    // [D]
  double* sums;     // [D, 3]
};

// Sums over rows that psi1 and the linear mean leave behind.
struct Psi1Sums {
  Psi1Sums(const Shape& shape, Arrays* arrays)
      : a(arrays->Take(shape.padded)),
        z(arrays->Take(shape.D * shape.padded)),
        log_l(arrays->Take(shape.D)),
        log_variance(arrays->Take(1)) {}
  double* a;             // [padded]
  double* z;             // [D, padded]
  double* log_l;         // [D]
  double* log_variance;  // [1]
};

// dF/dmu_q, dF/ds_q and dF/d log l_q of one row.
struct InputSlope {
  double mean, var, log_l;
};

// One row on the way back.
struct Psi1Down {
  const Shape& shape;
  const double *mu, *s;   // [D]
  const double* inverse;  // [D]
  double m;               // psi1 a
  double d_m, d_v;        // dF/dm and dF/dv
  const double* sums;     // [D, 3]
  double T;               // sum of dF/d log psi1

  // The linear mean's covariance with the GP part makes v depend on dm/dmu_q by this much.
  double Kappa(Index q) const { return 2 * d_v * shape.w[q] * s[q] * inverse[q]; }
  InputSlope Through(Index q) const;
};

class Psi1 {
 public:
  void Prepare(const Shape& shape, const LatentFunction& function);
  const double* z() const { return z_.data(); }

  // Fills the tape.
  void Forward(const Shape& shape, const RowsIn& x, const Psi1Tape& tape) const;
  // Mean and variance of row n, whose sum over psi2 is `second`.
  void Moments(const Shape& shape, const RowsIn& x, Index n, const Psi1Tape& tape, double second,
               double* m, double* v) const;
  // Adds to a and z of the sums.
  Psi1Down Backward(const Shape& shape, const RowsIn& x, Index n, const Psi1Tape& tape,
                    const RowSlopes& d_out, const Psi1Sums& sums) const;
  static void Finish(const Shape& shape, const Psi1Sums& sums, LatentFunctionGradient* gradient);

 private:
  AlignedBuffer a_;  // [padded]
  AlignedBuffer z_;  // [D, padded]
};

}  // namespace fathom::se_ard

#endif  // FATHOM_KERNEL_SE_ARD_PSI1_H_
