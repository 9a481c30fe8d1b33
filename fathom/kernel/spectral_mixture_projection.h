// The spectral mixture kernel's way through a tile of rows, one row after the other.
#ifndef FATHOM_KERNEL_SPECTRAL_MIXTURE_PROJECTION_H_
#define FATHOM_KERNEL_SPECTRAL_MIXTURE_PROJECTION_H_

#include "fathom/kernel/kernel.h"
#include "fathom/kernel/spectral_mixture_rows.h"

namespace fathom {

class SpectralMixtureProjection : public Projection {
 public:
  void Prepare(const LatentFunction& function, const ProjectionOptions& options) override;
  Index TapeSize(Index rows) const override;
  Index SumsSize() const override;
  void Forward(const Input& x, double* tape, double* m, double* v) const override;
  void Backward(const Input& x, double* tape, const Slopes& d_out, double* sums,
                const InputSlopes& d_x) const override;
  void Finish(const double* sums, LatentFunctionGradient gradient) const override;

 private:
  struct Tape;
  struct Sums;

  void AddZeroVarianceSlopes(const double* x, const Vector& d_k, double d_v, Vector* d_s) const;

  bool uncertain_ = false;
  spectral_mixture::Components c_;
  Vector a_, w_;
  Matrix S_;
  Matrix B_;  // aa' - S
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_SPECTRAL_MIXTURE_PROJECTION_H_
