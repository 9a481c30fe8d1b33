// Draws of a network's output as a predictive distribution.
#ifndef FATHOM_BNN_MIXTURE_H_
#define FATHOM_BNN_MIXTURE_H_

#include "fathom/distribution/prediction.h"

namespace fathom::bnn {

// outputs [S, N] of S draws of the network, with the noise variance [S] that each draw has:
//   p(y_n) = mean_s N(y_n; f_sn, s2_s)                                               [bnn-mixture]
Prediction MixtureOfDraws(const Matrix& outputs, const Vector& noise_variances);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_MIXTURE_H_
