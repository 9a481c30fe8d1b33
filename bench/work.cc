#include "bench/work.h"

namespace fathom::bench {

namespace {

double Pairs(double M) { return M * (M + 1) / 2; }

// Adds work(inputs, M, layer) over all latent functions.
template <class PerFunction>
Work SumOverFunctions(const DeepGp& model, const PerFunction& work) {
  Work total;
  for (Index l = 0; l < model.num_layers(); ++l) {
    for (const SparseGp& gp : model.layers[l].gps)
      total += work(gp.input_dim(), gp.num_inducing(), l);
  }
  return total;
}

}  // namespace

Work CertainRow(Index inputs, Index inducing, bool backward) {
  const auto D = static_cast<double>(inputs);
  const auto M = static_cast<double>(inducing);
  Work work;
  work.exps = M;
  work.flops = 2 * M * D    // distances as a matrix product
               + 2 * M * M  // U = k S
               + 4 * M;     // k'a, k'U
  if (!backward) return work;
  work.flops += M * M        // sum of d_v k k', one triangle
                + 2 * M * D  // sum of e x'
                + 8 * M;     // e and the sums of e and k
  return work;
}

Work UncertainRow(Index inputs, Index inducing, bool backward) {
  const auto Q = static_cast<double>(inputs);
  const auto M = static_cast<double>(inducing);
  const double P = Pairs(M);
  Work work;
  work.exps = P + M;
  // Multiply-add slots per pair. Forward: 2Q for the exponent, one for the weight, one for <B,
  // psi2>.
  work.flops = 2 * P * (2 * Q + 2) + 2 * M * (2 * Q + 1);
  if (!backward) return work;
  // The row sums with zbar and zbar^2, 2Q; the pair sums, 2Q + 1. So 6Q + 3 in all.
  work.flops += 2 * P * (4 * Q + 1) + 2 * M * (3 * Q + 3);
  return work;
}

Work FactoredRow(Index inputs, Index uncertain, Index inducing, bool backward) {
  const auto D = static_cast<double>(inputs);
  const auto U = static_cast<double>(uncertain);
  const auto M = static_cast<double>(inducing);
  const double P = Pairs(M);
  Work work;
  work.exps = P + M;
  // Multiply-add slots per pair. Forward: U for the exponent, one for the weight, one for
  // <B, psi2>. Per pseudo-point and input: the exponents of psi1 and of the factors.
  work.flops = 2 * P * (U + 2) + 2 * M * 2 * D;
  if (!backward) return work;
  // The weight, the pair sum, and G times 1 + U columns, above the diagonal and below; per
  // pseudo-point and input three for psi1 and three for the factors.
  work.flops += 2 * P * (2 * (1 + U) + 2) + 2 * M * 6 * D;
  return work;
}

Work PrepareWork(Index inputs, Index inducing, bool backward) {
  const auto D = static_cast<double>(inputs);
  const auto M = static_cast<double>(inducing);
  const double cube = M * M * M;
  Work work;
  work.exps = Pairs(M);    // K
  work.flops = M * M * D   // distances, one triangle
               + cube / 3  // K = L L'
               + cube / 3  // L^-1
               + cube / 3  // Delta'Delta
               + cube / 3  // its factor
               + cube / 3  // the inverse of the factor
               + cube / 3  // W^-1
               + cube      // Q = Delta W^-1: a triangle times a full matrix
               + cube      // V = Q Delta'
               + cube      // (I - V) L^-1
               + cube;     // S = L^-T (I - V) L^-1
  if (!backward) return work;
  work.flops += cube              // L^-1 dS
                + cube            // H = L^-1 dS L^-T
                + 2 * cube        // V H
                + cube            // dDelta, one triangle
                + cube / 3        // through the factor of K: a product of two triangles,
                + 2 * cube / 3    // then of a triangle and a triangle transposed
                + 2 * M * M * D;  // dZ
  return work;
}

Work RowWork(const DeepGp& model, bool backward) {
  return SumOverFunctions(model, [&](Index D, Index M, Index layer) {
    return layer == 0 ? CertainRow(D, M, backward) : UncertainRow(D, M, backward);
  });
}

Work PrepareWork(const DeepGp& model, bool backward) {
  return SumOverFunctions(
      model, [&](Index D, Index M, Index /*layer*/) { return PrepareWork(D, M, backward); });
}

Work StepWork(const DeepGp& model, Index batch) {
  Work work = static_cast<double>(batch) * RowWork(model, true);
  work += PrepareWork(model, true);
  work.bytes = 8.0 * static_cast<double>(batch * (model.input_dim() + model.outputs()));
  return work;
}

double PairsOfUpperLayers(const DeepGp& model) {
  double pairs = 0;
  for (Index l = 1; l < model.num_layers(); ++l) {
    for (const SparseGp& gp : model.layers[l].gps)
      pairs += Pairs(static_cast<double>(gp.num_inducing()));
  }
  return pairs;
}

}  // namespace fathom::bench
