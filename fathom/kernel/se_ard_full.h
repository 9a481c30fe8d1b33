// Expectations of the SE-ARD kernel under x ~ N(mu, Sigma) with a full covariance: psi1, psi2, and
// psi2 between two latent functions with kernels and pseudo-inputs of their own. All are one sum.
//
// A bump is exp(-1/2 (x - c)' C^-1 (x - c)), with a centre c and a diagonal C. Averaged over x,
//   E bump = |C|^1/2 |C + Sigma|^-1/2 exp(-1/2 (mu - c)' (C + Sigma)^-1 (mu - c)).           [bump]
// Let L = diag(l_q^2). The kernel k(x, z) is a bump at z with C = L, times its variance, so
//   psi1 a       is a sum of bumps at z_i with weights variance a_i.                    [psi1-full]
// The product k1(x, z) k2(x, y) is a bump too. Completing the square in x, its exponent is
//   (z - y)'(L1 + L2)^-1 (z - y) + (x - c)'C^-1 (x - c)       (times -1/2), where
//   C = (L1^-1 + L2^-1)^-1 = r L1,   c = r z + (1 - r) y,   r = L2 (L1 + L2)^-1, so
//   <W, E k1 k2'>  is a sum of bumps at c_ij with weights W_ij decay_ij,          [cross-psi2-full]
//   decay_ij = variance1 variance2 exp(-1/2 (z_i - y_j)'(L1 + L2)^-1 (z_i - y_j)).
// For k1 = k2 this is
//   <B, psi2>:   C = L/2, c_ij the midpoint; (i, j) and (j, i) share a bump.            [psi2-full]
//
// Making the bumps is work per layer, O(M^2 D). One row then costs a D x D Cholesky factorisation
// and O(M^2 D^2) per sum. No row's psi2 is kept: the backward pass computes the exponentials anew,
// a block at a time.
#ifndef FATHOM_KERNEL_SE_ARD_FULL_H_
#define FATHOM_KERNEL_SE_ARD_FULL_H_

#include "fathom/base/types.h"

namespace fathom::se_ard {

// P bumps of one width. As every gradient, that of a Bumps is a Bumps.
struct Bumps {
  Vector C;        // [D], the diagonal of C
  Matrix centres;  // [D, P]: a coordinate of all bumps is contiguous, for vectors of them
  Vector weights;  // [P]

  Bumps ZeroLike() const;
};

// Where the gradient of some bumps is summed: in a Bumps of the same shape, or in Size() numbers of
// a larger array.
struct BumpsSums {
  explicit BumpsSums(Bumps* in);
  BumpsSums(const Bumps& shape, double* memory);
  static Index Size(const Bumps& shape) {
    return shape.C.size() + shape.weights.size() * (1 + shape.C.size());
  }
  Bumps Value() const { return {C, centres, weights}; }

  Eigen::Map<Vector> C;
  Eigen::Map<Matrix> centres;
  Eigen::Map<Vector> weights;
};

// x ~ N(mu, Sigma).
struct Input {
  const Vector& mu;     // [D]
  const Matrix& Sigma;  // [D, D]
};
struct InputGradient {
  Vector& mu;
  Matrix& Sigma;
};
// dF/dvalue of an expected sum and, unless null, dF/dslope.
struct SumGradient {
  double value;
  const Vector* slope = nullptr;
};

// sum_p weights_p E bump_p under N(mu, Sigma). `slope`, unless null, becomes its derivative in mu
// [D], which by Stein's lemma is Sigma^-1 Cov(x, sum of bumps). Sigma [D, D] is symmetric and may
// be singular or zero; its lower triangle is read. Throws NumericalError if C + Sigma is not
// positive definite.
double ExpectedSum(const Bumps& bumps, const Input& x, Vector* slope);
// Adds to d_bumps and d_x. The Sigma of d_x gets a symmetric G such that
// dF = sum_qr G_qr dSigma_qr for symmetric dSigma.
void ExpectedSumBackward(const Bumps& bumps, const Input& x, const SumGradient& d_sum,
                         BumpsSums d_bumps, InputGradient d_x);

// The kernel's parameters and pseudo-inputs.
struct Points {
  const Vector& theta;  // [1 + D]
  const Matrix& Z;      // [M, D]
};
struct PointsGradient {
  Vector& theta;
  Matrix& Z;
};

// Bumps whose expected sum is psi1 a.
Bumps Psi1Bumps(const Points& points, const Vector& a);
// Adds to d_points and *d_a.
void Psi1BumpsBackward(const Points& points, const Vector& a, const Bumps& d_bumps,
                       PointsGradient d_points, Vector* d_a);

// Bumps whose expected sum is <W, E[k1 k2']>, W [M1, M2].
Bumps CrossPsi2Bumps(const Points& first, const Points& second, const Matrix& W);
// Where the gradients of both sides and of W are added.
struct CrossPsi2Gradient {
  PointsGradient first, second;
  Matrix& W;
};
// `bumps` is what the forward call gave.
void CrossPsi2BumpsBackward(const Points& first, const Points& second, const Bumps& bumps,
                            const Bumps& d_bumps, CrossPsi2Gradient gradient);

// Bumps whose expected sum is <B, psi2>, B [M, M]; M(M+1)/2 of them.
Bumps Psi2Bumps(const Points& points, const Matrix& B);
// dB gets a symmetric matrix.
void Psi2BumpsBackward(const Points& points, const Bumps& bumps, const Bumps& d_bumps,
                       PointsGradient d_points, Matrix* dB);

}  // namespace fathom::se_ard

#endif  // FATHOM_KERNEL_SE_ARD_FULL_H_
