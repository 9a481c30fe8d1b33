// One row against all pseudo-inputs under the spectral mixture kernel: the plain kernel, psi1 and
// the contracted psi2, each followed by its backward pass. Symbols as in spectral_mixture.h.
#ifndef FATHOM_KERNEL_SPECTRAL_MIXTURE_ROWS_H_
#define FATHOM_KERNEL_SPECTRAL_MIXTURE_ROWS_H_

#include "fathom/base/types.h"

namespace fathom::spectral_mixture {

// The kernel and the pseudo-inputs in the form that the formulas speak.
struct Components {
  Components() = default;
  Components(const Vector& theta, const Matrix& Z);

  Index Q = 0;
  Index D = 0;
  Index M = 0;
  Vector weights;     // [Q]
  Matrix A, W;        // [Q, D]
  Matrix z;           // [D, M]
  Matrix cosz, sinz;  // [Q D, M]  of W z
};

// Sums of slopes in a plain array, so that sums of tiles can be added.
struct Slopes {
  static Index Size(Index Q, Index D, Index M) { return Q + 2 * Q * D + D * M; }
  Slopes(const Components& c, double* memory)
      : weights(memory), A(weights + c.Q), W(A + c.Q * c.D), z(W + c.Q * c.D) {}
  // Adds to the gradients of theta and Z.
  void Finish(const Components& c, Eigen::Ref<Vector> d_theta, Eigen::Ref<Matrix> dZ) const;

  double* weights;  // [Q]
  double* A;        // [Q, D]
  double* W;        // [Q, D]
  double* z;        // [D, M]
};

// k(x, Z) [M].
void Plain(const Components& c, const double* x, double* k);
// Adds to slopes and to d_x [D], for the slopes d_k [M].
void PlainBackward(const Components& c, const double* x, const double* d_k, const Slopes& slopes,
                   double* d_x);
// The first and second derivatives of k(x, Z) along input d of x, [M] each.
void PlainAlong(const Components& c, const double* x, Index d, double* first, double* second);

// x ~ N(mu, diag(s)), [D] each.
struct Row {
  const double *mu, *s;
};

// psi1 [M] and slope [D], the slope of psi1'a with respect to mu.         [spectral-mixture-psi1]
void Psi1(const Components& c, const Row& x, const Vector& a, double* psi1, double* slope);
// Psi1Backward finds the gradient of g psi1'a + sum_d kappa_d slope_d, kappa held fixed.
struct Psi1Weights {
  double g;
  const double* kappa;  // [D]
};
struct Psi1Gradient {  // added to
  const Slopes& slopes;
  double* a;       // [M]
  double *mu, *s;  // [D]
};
void Psi1Backward(const Components& c, const Row& x, const Vector& a, const Psi1Weights& weights,
                  const Psi1Gradient& gradient);

// <B, psi2>, B symmetric. Cost O(M^2 Q^2 D), with one exponential per     [spectral-mixture-psi2]
// pair, but sines and cosines per pseudo-input only: the phases are sums of a part of i and a part
// of j.
double Psi2(const Components& c, const Row& x, const Matrix& B);
// Psi2Backward finds the gradient of g <B, psi2>.
struct Psi2Gradient {  // added to
  const Slopes& slopes;
  double* half;    // [M, M], where half + half' stands for g psi2
  double *mu, *s;  // [D]
};
void Psi2Backward(const Components& c, const Row& x, const Matrix& B, double g,
                  const Psi2Gradient& gradient);

}  // namespace fathom::spectral_mixture

#endif  // FATHOM_KERNEL_SPECTRAL_MIXTURE_ROWS_H_
