// The derivative with respect to the variance s_q of an input where it is 0, from above. A function
// with the moments m(x) and v(x) at a certain x has, to first order in s_q,
//   E = m + 1/2 s_q m_qq,   Var = v + s_q (1/2 v_qq + m_q^2),                       [zero-variance]
// where q stands for derivatives along x_q. With m = k'a + w'x and v = k(x, x) - k'Sk, F's
// derivative is made of those of k = k(x, Z) along x_q.
#ifndef FATHOM_KERNEL_ZERO_VARIANCE_H_
#define FATHOM_KERNEL_ZERO_VARIANCE_H_

#include "fathom/base/types.h"

namespace fathom {

// One row at one input. The vectors are [M].
struct AlongInput {
  using Row = Eigen::Ref<const Vector>;
  Row first, second;       // k_q and k_qq
  Row S_first;             // S k_q
  double diagonal_second;  // d2 k(x, x) / dx_q^2
  double w;                // the linear mean's slope along x_q
};

// dk = dF/dk = d_m a - 2 d_v S k.
inline double ZeroVarianceSlope(const AlongInput& at, const AlongInput::Row& a,
                                const AlongInput::Row& dk, double d_v) {
  const double slope = at.first.dot(a) + at.w;  // m_q
  return 0.5 * (at.second.dot(dk) + d_v * at.diagonal_second) +
         d_v * (slope * slope - at.first.dot(at.S_first));
}

}  // namespace fathom

#endif  // FATHOM_KERNEL_ZERO_VARIANCE_H_
