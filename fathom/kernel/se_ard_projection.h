// The SE-ARD kernel's ways through a tile of rows: rows with certain inputs take matrix products of
// the plain kernel; rows with uncertain inputs take psi statistics, in one of two ways. Each way
// keeps its forward, backward and finish together.
#ifndef FATHOM_KERNEL_SE_ARD_PROJECTION_H_
#define FATHOM_KERNEL_SE_ARD_PROJECTION_H_

#include <variant>

#include "fathom/base/aligned.h"
#include "fathom/kernel/kernel.h"
#include "fathom/kernel/se_ard_psi1.h"
#include "fathom/kernel/se_ard_rows.h"

namespace fathom {
namespace se_ard {

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

// Rows with some s > 0, of few inputs, through features of pairs of pseudo-points: log psi2_nij is
// a short inner product of those of a row and those of a pair. The sums are O(D M^2).
class UncertainRows {
 public:
  void Prepare(const Shape& shape, const LatentFunction& function,
               const ProjectionOptions& options);
  Index TapeSize(const Shape& shape, Index rows) const;
  Index SumsSize(const Shape& shape) const;
  void Forward(const Shape& shape, const Psi1& psi1, const RowsIn& x, double* tape, double* m,
               double* v) const;
  void Backward(const Shape& shape, const Psi1& psi1, const RowsIn& x, double* tape,
                const RowSlopes& d_out, double* sums, const InputSlopes& d_x) const;
  void Finish(const Shape& shape, const Psi1& psi1, const double* sums,
              LatentFunctionGradient* gradient) const;

 private:
  // psi2 is computed in Real: double, or float in mixed precision.
  template <typename Real>
  struct Tape;
  template <typename Real>
  struct PairArraysOf {
    const Real *weights, *midpoints;
  };
  template <typename Real>
  PairArraysOf<Real> PairArrays() const;
  template <typename Real>
  void ForwardAs(const Shape& shape, const Psi1& psi1, const RowsIn& x, double* tape, double* m,
                 double* v) const;
  template <typename Real>
  void BackwardAs(const Shape& shape, const Psi1& psi1, const RowsIn& x, double* tape,
                  const RowSlopes& d_out, double* sums, const InputSlopes& d_x) const;

  Precision precision_ = Precision::kDouble;
  bool backward_ = true;
  bool variance_ = true;
  Index pairs_ = 0;                                       // M(M+1)/2 rounded up
  AlignedBuffer midpoints_;                               // [D, pairs]
  AlignedVector<float> midpoints_float_, weights_float_;  // in mixed precision
  AlignedBuffer decay_;    // [pairs]  variance^2 exp(-sum (z_i - z_j)^2 / 4 l^2)
  AlignedBuffer weights_;  // [pairs]  decay (2 - delta_ij) (a_i a_j - S_ij)
};

// The same of many inputs, of which most are often certain, as where a few cells are missing. An
// input with s = 0 is a factor of each of a pair's two pseudo-points, so a row takes M^2 time for
// each input with s > 0 and M for each other one. The sums are O(M^2 + D M). Always in double.
class FactoredRows {
 public:
  void Prepare(const Shape& shape, const LatentFunction& function,
               const ProjectionOptions& options);
  Index TapeSize(const Shape& shape, Index rows) const;
  Index SumsSize(const Shape& shape) const;
  void Forward(const Shape& shape, const Psi1& psi1, const RowsIn& x, double* tape, double* m,
               double* v) const;
  void Backward(const Shape& shape, const Psi1& psi1, const RowsIn& x, double* tape,
                const RowSlopes& d_out, double* sums, const InputSlopes& d_x) const;
  void Finish(const Shape& shape, const Psi1& psi1, const double* sums,
              LatentFunctionGradient* gradient) const;

 private:
  struct Tape;
  struct Sums;
  struct Exponent;

  bool backward_ = true;
  bool variance_ = true;
  AlignedBuffer weights_;  // variance^2 (2 - delta_ij) (a_i a_j - S_ij), see TrianglePlace
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
  se_ard::Psi1 psi1_;
  se_ard::CertainRows certain_rows_;
  std::variant<se_ard::UncertainRows, se_ard::FactoredRows> uncertain_rows_;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_SE_ARD_PROJECTION_H_
