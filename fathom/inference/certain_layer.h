// The first layer of a network under certain inputs, as EP sees it. With c = L^-1 k(Z, x),
//   f(x) given v is N(c'v + w'x, k(x, x) - c'c),                                      [ep-line]
// so a row sees of v only c'v. Its factor is rank one and needs two numbers beside the direction,
// where layers above need M (M + 3) / 2; and all rows together are a few matrix products.
#ifndef FATHOM_INFERENCE_CERTAIN_LAYER_H_
#define FATHOM_INFERENCE_CERTAIN_LAYER_H_

#include "fathom/inference/moment_matching.h"
#include "fathom/model/sparse_gp.h"

namespace fathom {

struct CertainRows {
  Matrix C;       // [rows, M], a row per c'
  Vector spread;  // [rows], k(x, x) - c'c, not below 0
};

struct CertainInput {
  const SparseGp& gp;
  const Matrix& L_inverse;
  const Matrix& x;  // [rows, D]
};
// O(rows M^2).
CertainRows ProjectCertain(const CertainInput& in);
// Adds to d_gp's theta and Z, and to L' dF/dL.
void ProjectCertainBackward(const CertainInput& in, const CertainRows& rows,
                            const CertainRows& d_rows, SparseGp* d_gp, Matrix* phi_argument);

// The cavities of all rows, each without the share alpha of its own factor
// -1/2 T (b'v)^2 + h b'v along a direction b. With u = V b and q = 1 - alpha T b'u,
//   V_n = V + kappa u u',  m_n = m + gamma u,                                   [ep-deletion-line]
//   kappa = alpha T / q,   gamma = (alpha T b'm - alpha h) / q
//   phi_n - phi = -1/2 log q + 1/2 (alpha T (b'm)^2 - 2 alpha h b'm + (alpha h)^2 b'u) / q
struct LineCavities {
  Matrix U;                       // [rows, M]
  Vector kappa, gamma, d_phi, q;  // [rows]
  bool proper() const { return (q.array() > 0).all(); }
};
// directions [rows, M], factors [rows, 2]: h and T.
LineCavities DeleteLines(const Belief& q, const Matrix& directions, const Matrix& factors,
                         double alpha);

// Mean and variance of c'v under the row's cavity, or under q itself without cavities.
struct LineMoments {
  Matrix VC;    // [rows, M]
  Vector UC;    // [rows], u'c; empty without cavities
  Vector t, s;  // [rows]
};
LineMoments MomentsAlong(const Belief& q, const LineCavities* cavities, const Matrix& C);
// dF/dC at fixed q and cavities, from dF/dt and dF/ds.
Matrix MomentsAlongBackward(const Belief& q, const LineCavities* cavities,
                            const LineMoments& moments, const Vector& d_t, const Vector& d_s);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_CERTAIN_LAYER_H_
