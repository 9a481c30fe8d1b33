// The inner loops of the SE-ARD kernel, vectorised for the processor at hand (Highway, run-time
// dispatch). The mathematics is in se_ard_certain.cc and se_ard_uncertain.cc.
//
// Arrays over pseudo-points or pairs are padded to a multiple of kSimdPadding with entries that
// contribute nothing; padded_m is M padded so. Such arrays are aligned to 64 bytes.
#ifndef FATHOM_KERNEL_SE_ARD_LOOPS_H_
#define FATHOM_KERNEL_SE_ARD_LOOPS_H_

#include "fathom/base/aligned.h"
#include "fathom/base/types.h"

namespace fathom::se_ard {

// psi2 in double precision, or mixed: T = float for the exponentials and for sums of at most 16
// terms, double for all sums of those. Mixed, a row sum is right to about 2e-7 of the sum of its
// terms' sizes (tested: 5e-6), in less than half of the time.
//
// For all rows of a tile and all pairs p = (i, j), j <= i, of pseudo-points, zbar_p their midpoint,
// without the factors that do not depend on both row and pair,
//   E_np = exp(-sum_q y_nqp^2),   y_nqp = root_nq zbar_qp - shift_nq,
// and the row sums
//   t_n0 = sum_p w_p E_np,  t_n,2q+1 = sum_p w_p E_np y_nqp,  t_n,2q+2 the same with y_nqp^2.
// Where E is null only t_n0 is computed: all that a prediction needs.
inline constexpr Index kMostPairInputs = 6;  // those of more would not fit into the registers
template <typename T>
struct PairTile {
  Index rows, Q;
  Index pairs;         // padded to a multiple of kPairPadding
  const T* features;   // [rows, 2Q]  root_n0, shift_n0, root_n1, ...
  const T* weights;    // [pairs]
  const T* midpoints;  // [Q, pairs]
  T* E;                // [rows, pairs], or null
  double* sums;        // [rows, 2Q+1]; [rows, 1] if E is null
};
inline constexpr Index kPairPadding = 16;  // floats in 64 bytes
void PairForward(const PairTile<double>& tile);
void PairForward(const PairTile<float>& tile);

// Adds sum_n c_nk E_np to pair_sums_kp.  coefficients c [rows, count];  pair_sums [count, pairs].
void PairBackward(Index rows, Index count, Index pairs, const double* coefficients, const double* E,
                  double* pair_sums);
void PairBackward(Index rows, Index count, Index pairs, const float* coefficients, const float* E,
                  double* pair_sums);

// k_ni = exp(offset_n - 1/2 sum_q s_nq (x_nq - z_qi)^2). Entries i >= M are set to 0.
struct GaussianTile {
  Index rows, D, M;
  const double* offset;  // [rows]
  const double* x;       // [rows, D]
  const double* s;       // [rows, D]; null means ones
  const double* z;       // [D, padded_m]
  double* k;             // [rows, padded_m]
};
void GaussianRows(const GaussianTile& tile);

// One row on its way back through psi1, with a linear mean or without (kappa is null). For all i,
//   rho_i = base + sum_q kappa_q (z_qi - mu_q),   h_i = psi1_i a_i,   t_i = h_i rho_i,
// which adds psi1_i rho_i to a_sums_i and e_q t_i (mu_q - z_qi) + kappa_q h_i to z_sums_qi.
struct Psi1Row {
  Index D, M;
  double base;
  const double *mu, *e, *kappa;  // [D]
  const double *psi1, *a;        // [padded_m]
  const double* z;               // [D, padded_m]
  double *h, *t;                 // [padded_m], room to work in
  double* a_sums;                // [padded_m]
  double* z_sums;                // [D, padded_m]
  double* sums;                  // [D, 3]: sum_i t_i z_qi, t_i z_qi^2 and h_i z_qi
};
// Returns the sum of t.
double Psi1Backward(const Psi1Row& row);

// psi2 of one row whose exponent is split by pseudo-point: for pairs i >= j,
//   E_ij = exp(log_k_i + log_k_j + sum_q slope_qi zeta_qj) <= 1.
// Arrays over pairs hold the lower triangle by rows, in groups of kSimdPadding rows that are
// equally long. What stands above the diagonal has no weight.
constexpr Index TriangleWidth(Index i) { return PaddedSize(i + 1); }
constexpr Index TrianglePlace(Index i, Index j) {
  const Index group = i / kSimdPadding;  // all of the width kSimdPadding (group + 1)
  const Index before = kSimdPadding * kSimdPadding * group * (group + 1) / 2;
  return before + i % kSimdPadding * TriangleWidth(i) + j;
}
constexpr Index TriangleSize(Index M) { return TrianglePlace(PaddedSize(M), 0); }
struct FactoredRow {
  Index M, inputs;
  const double* log_k;    // [padded_m], times log2(e)
  const double* slope;    // [inputs, padded_m], times log2(e)
  const double* zeta;     // [inputs, padded_m]
  const double* weights;  // [triangle]
  double* E;              // [triangle], or null
};
// Returns sum_p w_p E_p.
double FactoredForward(const FactoredRow& row);

// The way back: G_ij = G_ji = g w_ij E_ij, twice that on the diagonal. Adds g E_p to pair_sums_p,
// and sets products_q = G column_q.
struct FactoredSlopes {
  Index M, columns;
  double g;
  const double *weights, *E;  // [triangle]
  const double* column;       // [columns, padded_m]
  double* scratch;            // [4, padded_m]
  double* pair_sums;          // [triangle]
  double* products;           // [columns, padded_m]
};
void FactoredBackward(const FactoredSlopes& row);

// The way back through one input of one row, zeta_i = z_i - mu:
//   d_zeta_i = -2 alpha d_log_k_i zeta_i + beta G_zeta_i,
// which is added to d_z. G_zeta is null where beta is 0.
struct FactoredInput {
  Index M;
  double mu, alpha, beta;
  const double *z, *d_log_k, *G_zeta;  // [padded_m]
  double* d_z;                         // [padded_m]
};
struct FactoredInputSums {
  double mu;     // -sum_i d_zeta_i
  double alpha;  // -sum_i d_log_k_i zeta_i^2
  double beta;   // 1/2 sum_i zeta_i G_zeta_i
};
FactoredInputSums FactoredInputBackward(const FactoredInput& input);

// out_i = sum_q s_q (x_q - z_qi)^2.  x, s [D];  z [D, padded_m];  out [padded_m].
void SquaredDistances(Index D, Index M, const double* x, const double* s, const double* z,
                      double* out);

// U = k S, row by row with the same arithmetic wherever a row stands, so that a prediction has the
// same bits in any tile.  k, U [rows, padded_m];  S [M, padded_m].
void RowsTimesMatrix(Index rows, Index M, const double* k, const double* S, double* U);

// Adds sum_n g_n k_ni k_nj to C_ij for j <= i; near the diagonal, entries above it may change too.
// g [rows];  k, scratch [rows, padded_m];  C [M, padded_m].
void SymmetricRankUpdate(Index rows, Index M, const double* g, const double* k, double* scratch,
                         double* C);

}  // namespace fathom::se_ard

#endif  // FATHOM_KERNEL_SE_ARD_LOOPS_H_
