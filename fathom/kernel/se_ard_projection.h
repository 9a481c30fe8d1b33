// The SE-ARD kernel's way through a tile of rows: rows with certain inputs take matrix products of
// the plain kernel, rows with uncertain inputs take psi statistics. Each half keeps its forward,
// backward and finish together.
#ifndef FATHOM_KERNEL_SE_ARD_PROJECTION_H_
#define FATHOM_KERNEL_SE_ARD_PROJECTION_H_

#include "fathom/base/aligned.h"
#include "fathom/kernel/kernel.h"

namespace fathom {
namespace se_ard {

// What both halves need of the latent function, in the layout of the loops.
struct Shape {
  Index M = 0;
  Index padded = 0;  // M rounded up
  Index D = 0;
  double variance = 0;
  Vector l;  // lengthscales [D]
  Vector a;  // [M]
  Vector w;  // [D] or empty
};

// Some rows, each with a mean and a variance per input.
struct RowsIn {
  Index rows;
  const double *mu, *s;  // [rows, D] contiguous
};
// dF/dm and dF/dv [rows].
struct RowSlopes {
  const double *m, *v;
};
// Where dF/dmu and dF/ds [rows, D] are added; null: not wanted.
struct InputSlopes {
  double *mu, *s;
};

// Rows with s = 0:  k = k(x, Z),  m = k'a,  v = variance - k'Sk.
class CertainRows {
 public:
  void Prepare(const Shape& shape, const LatentFunction& function,
               const ProjectionOptions& options);
  Index TapeSize(Index rows) const;
  Index SumsSize() const;
  // x [rows, D] contiguous.
  void Forward(const Shape& shape, Index rows, const double* x, double* tape, double* m,
               double* v) const;
  void Backward(const Shape& shape, Index rows, double* tape, const RowSlopes& d_out, double* sums,
                const InputSlopes& d_x) const;
  void Finish(const Shape& shape, const double* sums, LatentFunctionGradient* gradient) const;

 private:
  struct Tape;
  // Adds the derivatives with respect to the variances of row n, which are 0.
  void AddZeroVarianceSlopes(const Shape& shape, const Tape& tape, Index n, double d_m, double d_v,
                             double* d_s) const;

  AlignedBuffer scaled_z_;  // [D, padded], z_iq / l_q
  AlignedBuffer S_;         // [M, padded]
  bool variance_ = true;
  Index tape_per_row_ = 0;
  Index fixed_tape_ = 0;  // whatever the rows
  Index sums_size_ = 0;
};

// Rows with some s > 0, through psi1 and psi2.
class UncertainRows {
 public:
  void Prepare(const Shape& shape, const LatentFunction& function,
               const ProjectionOptions& options);
  Index TapeSize(Index rows) const;
  Index SumsSize() const;
  void Forward(const Shape& shape, const RowsIn& x, double* tape, double* m, double* v) const;
  void Backward(const Shape& shape, const RowsIn& x, double* tape, const RowSlopes& d_out,
                double* sums, const InputSlopes& d_x) const;
  void Finish(const Shape& shape, const double* sums, LatentFunctionGradient* gradient) const;

 private:
  // psi2 is computed in Real: double, or float in mixed precision.
  template <typename Real>
  struct Tape;
  template <typename Real>
  struct Arrays {
    const Real *weights, *midpoints;
  };
  template <typename Real>
  Arrays<Real> PairArrays() const;
  template <typename Real>
  void ForwardAs(const Shape& shape, const RowsIn& x, double* tape, double* m, double* v) const;
  template <typename Real>
  void BackwardAs(const Shape& shape, const RowsIn& x, double* tape, const RowSlopes& d_out,
                  double* sums, const InputSlopes& d_x) const;

  Precision precision_ = Precision::kDouble;
  bool backward_ = true;
  bool variance_ = true;
  Index padded_ = 0;                                      // M rounded up
  Index pairs_ = 0;                                       // M(M+1)/2 rounded up
  AlignedBuffer a_;                                       // [padded]
  AlignedBuffer z_;                                       // [D, padded]
  AlignedBuffer midpoints_;                               // [D, pairs]
  AlignedVector<float> midpoints_float_, weights_float_;  // in mixed precision
  AlignedBuffer decay_;    // [pairs]  variance^2 exp(-sum (z_i - z_j)^2 / 4 l^2)
  AlignedBuffer weights_;  // [pairs]  decay (2 - delta_ij) (a_i a_j - S_ij)
  Index sums_size_ = 0;
};

}  // namespace se_ard

class SeArdProjection : public Projection {
 public:
  void Prepare(const LatentFunction& function, const ProjectionOptions& options) override;
  Index TapeSize(Index rows) const override;
  Index SumsSize() const override;
  void Forward(const Input& x, double* tape, double* m, double* v) const override;
  void Backward(const Input& x, double* tape, const Slopes& d_out, double* sums,
                const InputSlopes& d_x) const override;
  void Finish(const double* sums, LatentFunctionGradient gradient) const override;

 private:
  struct TapeParts {
    double *certain, *uncertain;
  };
  TapeParts Split(Index rows, double* tape) const;

  bool uncertain_ = false;
  se_ard::Shape shape_;
  se_ard::CertainRows certain_rows_;
  se_ard::UncertainRows uncertain_rows_;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_SE_ARD_PROJECTION_H_
