// Stochastic EP: all rows share one factor g, q = prior * g^N.                                [sep]
//   deletion: q / g^alpha, the same for all rows;  matching: as in EP, row by row;
//   explicit update: g <- g^(1 - beta) g_new^beta, with the mean of a batch's new factors.
// beta is `step` times the batch's share of the table, so that a pass over the table replaces the
// factor about once, as beta = 1/N does row by row. The energy is that of the tied factor
// (AepEnergy), of which SEP finds no maximum but, for every alpha, its own fixed point. Memory does
// not grow with the table.
#ifndef FATHOM_INFERENCE_SEP_H_
#define FATHOM_INFERENCE_SEP_H_

#include "fathom/inference/aep_energy.h"
#include "fathom/inference/factor_inference.h"

namespace fathom {

class Sep : public FactorInference {
 public:
  Sep(DeepGp start, const Moments& x, const Matrix& y, FactorOptions options,
      const ThreadPool& pool);

  double Update(const Vector& parameters, std::span<const Index> rows) override;
  // The same with a beta of the caller's.
  double Update(const Vector& parameters, std::span<const Index> rows, double beta);
  bool Evaluate(const Vector& parameters, const Batch& batch, double* value, Vector* gradient,
                std::string* reason) const override;
  DeepGp Posterior(const Vector& parameters) const override;
  double Energy(const Vector& parameters, DeepGp* gradient) const override;
  State SaveState() const override;
  void RestoreState(const State& state) override;

  // g^N of one function, in whitened pseudo-outputs.
  const Natural& Total(Index layer, Index function) const { return total_[layer][function]; }

 private:
  // The product of the new factors of some rows, and of how many, by their weights.
  struct NewFactors {
    Natural sum;
    double rows = 0;
    void Add(const Natural& factor, double weight);
  };

  PerFunction<NewFactors> NoFactors() const;
  PerFunction<NewFactors> MatchRows(const Point& point, const PerFunction<Belief>& cavities,
                                    std::span<const Index> rows) const;
  // Adds the new factors of the row that `step` has run.
  void MatchRow(const Point& point, const PerFunction<Belief>& cavities, double weight,
                RowStep* step, PerFunction<NewFactors>* out) const;
  void MatchFirstLayer(std::span<const Index> rows, const CertainLayer& first,
                       PerFunction<NewFactors>* out) const;
  bool TryStep(double beta, const PerFunction<NewFactors>& found, double* change);

  AepEnergy energy_;
  PerFunction<Natural> total_;
  PerFunction<Belief> q_;
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_SEP_H_
