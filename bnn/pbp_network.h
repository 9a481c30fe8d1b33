// Probabilistic backpropagation through a ReLU network whose weights are independent Gaussians
// (Hernandez-Lobato and Adams 2015): moments go up, the gradient of log Z comes down, and assumed
// density filtering moves the weights. Only here are pre-activations divided by sqrt(n_in + 1).
#ifndef FATHOM_BNN_PBP_NETWORK_H_
#define FATHOM_BNN_PBP_NETWORK_H_

#include <vector>

#include "bnn/mlp.h"

namespace fathom::bnn {

// Means and variances of all weights, in the order of MlpShape. Gradients have the same type.
struct GaussianWeights {
  Vector M, V;
};

// What ReluMoments leaves for its way back, per element: with s = sqrt(v), q = m/s
struct ReluTape {
  Moments in, out;
  Matrix P, Pc, p;  // Phi(q), Phi(-q), phi(q)
};

// Mean and variance of max(0, a), a ~ N(m, v), with q = m/s, P = Phi(q), Pc = Phi(-q), p = phi(q):
//   m_z = m P + s p,   v_z = v [q^2 P Pc + P + q p (Pc - P) - p^2] >= 0             [relu-moments]
// No cancellation for large q. v = 0 is the ReLU itself.
void ReluMoments(ReluTape* tape);
// From d_out, the slopes with respect to m_z and v_z, to those with respect to m and v:
//   d_m = P d_mz + 2 m_z Pc d_vz,   d_v = p/(2s) d_mz + (P - m_z p/s) d_vz
Moments ReluMomentsBackward(const ReluTape& tape, const Moments& d_out);

struct PbpTape {
  std::vector<Moments> z;      // [layers] inputs of each, with (1, 0) appended for the bias
  std::vector<ReluTape> relu;  // [layers - 1]
  Moments f;                   // [N, 1]
};

// Moments of f for inputs of moments x [N, inputs]. With c = 1/(n_in + 1), layer by layer
//   m_a = sqrt(c) M zm,   v_a = c [(M*M) zv + V (zm*zm + zv)]                     [pbp-forward]
void PbpForward(const MlpShape& shape, const GaussianWeights& weights, const Moments& x,
                PbpTape* tape);

// The gradient with respect to M and V; d_f [N, 1] holds the slopes with respect to the mean and
// the variance of f.                                                                 [pbp-backward]
//   gM = sqrt(c) d_m zm' + 2c (d_v zv') * M          gV = c d_v (zm*zm + zv)'
//   d_zm = sqrt(c) M' d_m + 2c (V' d_v) * zm         d_zv = c (M*M + V)' d_v
void PbpBackward(const MlpShape& shape, const GaussianWeights& weights, const PbpTape& tape,
                 const Moments& d_f, GaussianWeights* gradient);

// log N(y; m, v) and its slopes: with r = y - m,  d_m = r/v,  d_v = (r^2/v - 1)/(2v)
struct GaussianEvidence {
  double log_z, d_mean, d_var;

  GaussianEvidence(double y, double mean, double var);
};

// Moments after a factor with that gradient of log Z:  M += V gM,  V -= V^2 (gM^2 - 2 gV)
// A weight whose new variance is at most 1e-100 or not finite keeps both.             [pbp-adf]
// Returns whether it was moved.
bool AdfUpdate(double d_mean, double d_var, double* mean, double* var);

// The same for all weights. Returns how many were refused; *refused [weights], unless it is null,
// becomes 1 for each of them and 0 for the others.
Index AdfUpdate(const GaussianWeights& gradient, GaussianWeights* weights,
                Vector* refused = nullptr);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_PBP_NETWORK_H_
