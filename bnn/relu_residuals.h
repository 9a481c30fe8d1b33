// The residuals of a network with one hidden layer of ReLU units, and their gradient, in one go:
// tiles of few rows pass through the first cache.
//
//   h_nj = c_nj max(0, W_j x_n),  f_n = w h_n + b,  r_n = y_n - f_n
//
// where x_n ends in a one, and c are dropout's factors, or ones. All of the gradient follows from
// one sum, because h_nj = c_nj W_j x_n wherever it is not 0:
//   S_j = sum_n [h_nj > 0] c_nj r_n x_n
//   sum_n r_n df_n/dW_j = w_j S_j,  sum_n r_n df_n/dw_j = W_j S_j
#ifndef FATHOM_BNN_RELU_RESIDUALS_H_
#define FATHOM_BNN_RELU_RESIDUALS_H_

#include "bnn/mlp.h"

namespace fathom::bnn {

using SingleMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Whether the network is of this kind.
bool HasOneReluLayer(const MlpShape& shape);

// Returns sum_n r_n^2 and, unless it is null, adds sum_n r_n df_n/dw to *descent.
// Cost 4 N weights flop, or 2 without the gradient. NaN in rows or weights makes the sum NaN.
// Uses only the scratch and the sums of the tape.                            [bnn-relu-residuals]
double ReluResiduals(const Mlp& mlp, const Matrix& X, const Vector& y, MlpTape* tape,
                     Vector* descent, const InputFactors* factors = nullptr);

// The same in single precision, in 0.5 to 0.65 of the time. Targets and sums over many rows are
// double: of 40,000 rows near a mode the gradient is exact to 1e-5 of its norm (tested).
double ReluResiduals(const Mlp& mlp, const SingleMatrix& X, const Vector& y, MlpTape* tape,
                     Vector* descent);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_RELU_RESIDUALS_H_
