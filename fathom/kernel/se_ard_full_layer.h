// A layer of SE-ARD latent functions under jointly Gaussian inputs, with all covariances of its
// outputs. The functions f_i(x) = w_i'x + g_i(x) are independent given x, but all see the same
// uncertain x. With m_i = psi1_i a_i and s_i = dm_i/dmu, so that Cov(x, g_i) = Sigma s_i by Stein's
// lemma,                                                                       [layer-moments-full]
//   E f_i         = m_i + w_i'mu
//   Cov(f_i, f_j) = a_i' E[k_i k_j'] a_j - m_i m_j + w_i'Sigma w_j + w_i'Sigma s_j + w_j'Sigma s_i,
// and for i = j there is also the spread of g_i given x:  psi0 - <S_i, psi2_i>.
//
// At Sigma = 0 the formula of Cov is zero and its gradient in Sigma is (w_i + s_i)(w_j + s_j)'. A
// row without uncertainty takes these as they are, since a'psi2 a - m^2 would leave rounding
// errors, which are large where a is.
#ifndef FATHOM_KERNEL_SE_ARD_FULL_LAYER_H_
#define FATHOM_KERNEL_SE_ARD_FULL_LAYER_H_

#include <vector>

#include "fathom/kernel/full_layer.h"
#include "fathom/kernel/se_ard_full.h"

namespace fathom {

// D outputs have D(D+1)/2 pairs to be summed, so a row costs O(D^2 M^2 Din^2). Backward computes a
// row's exponentials anew rather than keep psi2 of all rows.
class SeArdFullLayer : public FullLayer {
 public:
  void Prepare(const std::vector<LatentFunction>& functions) override;
  void Forward(const FullMoments& x, FullMoments* out) const override;
  Index SumsSize() const override;
  void Backward(const FullMoments& x, const FullMoments& d_out, double* sums,
                FullMoments* d_x) const override;
  void Finish(const double* sums, std::vector<LatentFunctionGradient>* gradients) const override;
  // [Din]: the gradient with respect to the linear mean of one function, which Finish leaves out.
  Vector MeanGradient(const double* sums, Index function) const;

 private:
  struct Sums;
  struct Function {
    Vector theta;
    Matrix Z;
    Vector a;
    Matrix S;
    Vector w;  // [Din], zero for no linear mean
    se_ard::Points points() const { return {theta, Z}; }
  };
  struct RowMean {
    Vector m;  // [D]
    Matrix s;  // [D, Din]
  };

  RowMean MeanOfRow(const Vector& mu, const Matrix& Sigma) const;

  bool linear_ = false;  // whether any w is not zero
  std::vector<Function> functions_;
  std::vector<se_ard::Bumps> psi1_;     // m_i
  std::vector<se_ard::Bumps> certain_;  // -<S_i, psi2_i>, for rows without uncertainty
  // For each i, each j <= i:  a_i' E[k_i k_j'] a_j, and - <S_i, psi2_i> with it where i = j.
  std::vector<se_ard::Bumps> pairs_;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_SE_ARD_FULL_LAYER_H_
