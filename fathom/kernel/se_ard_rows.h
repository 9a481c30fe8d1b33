// What the ways of rows through the SE-ARD kernel share: se_ard_projection.h lists them.
#ifndef FATHOM_KERNEL_SE_ARD_ROWS_H_
#define FATHOM_KERNEL_SE_ARD_ROWS_H_

#include "fathom/base/aligned.h"
#include "fathom/kernel/kernel.h"

namespace fathom::se_ard {

// The latent function, in the layout of the loops.
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

// Arrays that lie one after the other in a buffer; of a null buffer only the size is asked.
class Arrays {
 public:
  explicit Arrays(double* begin) : begin_(begin) {}

  template <typename Real = double>
  Real* Take(Index count) {
    double* const at = begin_ == nullptr ? nullptr : begin_ + size_;
    size_ += PaddedSize((count * static_cast<Index>(sizeof(Real)) + 7) / 8);
    return reinterpret_cast<Real*>(at);
  }
  Index size() const { return size_; }  // in doubles

 private:
  double* begin_;
  Index size_ = 0;
};

// dF/dB_ij and dF/dB_ji, each d, back through B = aa' - S.
inline void AddPairSlope(const Shape& shape, Index i, Index j, double d,
                         LatentFunctionGradient* gradient) {
  gradient->S(i, j) -= d;
  gradient->a[i] += 2 * d * shape.a[j];
  if (i == j) return;
  gradient->S(j, i) -= d;
  gradient->a[j] += 2 * d * shape.a[i];
}

}  // namespace fathom::se_ard

#endif  // FATHOM_KERNEL_SE_ARD_ROWS_H_
