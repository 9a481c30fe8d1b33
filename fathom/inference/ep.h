// Expectation propagation, with power alpha: every row n has a factor t_n of its own for every
// function.                                                                                  [ep]
//   q = prior * prod t_n;  deletion: q_n = q / t_n^alpha;  matching: q_n t_n^alpha has the moments
//   of q_n p(y_n|.)^alpha, by the gradients of log Z_n with respect to those of q_n;
//   t_n moves a step from the old factor to the new one.
// Energy:
//   F = sum_gps [phi(q)] + 1/alpha sum_n [log Z_n + sum_gps (phi(q_n) - phi(q))]        [ep-energy]
// and for alpha = 0 its limit, the bound  sum_n E log p(y_n|.) - KL(q || prior). A row of weight w
// counts as w rows with one factor each, all the same.
//
// One layer with Gaussian noise: one update gives FITC's posterior and evidence, whatever it starts
// from (for 0 < alpha < 1 those of power EP, for alpha = 0 the collapsed variational bound).
//
// Memory: 2 numbers and a direction of M per row and function of a first layer with certain
// inputs, M (M + 3) / 2 per row and function elsewhere, twice: the factors and their changes.
#ifndef FATHOM_INFERENCE_EP_H_
#define FATHOM_INFERENCE_EP_H_

#include <vector>

#include "fathom/inference/factor_inference.h"

namespace fathom {

class Ep : public FactorInference {
 public:
  // Throws Error if the factors would need more memory than there is, or a weight is below alpha.
  Ep(DeepGp start, const Moments& x, const Matrix& y, FactorOptions options,
     const ThreadPool& pool);

  double Update(const Vector& parameters, std::span<const Index> rows) override;
  // -F/N estimated from the rows, with the factors fixed.
  bool Evaluate(const Vector& parameters, const Batch& batch, double* value, Vector* gradient,
                std::string* reason) const override;
  DeepGp Posterior(const Vector& parameters) const override;
  double Energy(const Vector& parameters, DeepGp* gradient) const override;
  State SaveState() const override;
  void RestoreState(const State& state) override;

  // The factor of one row, in whitened pseudo-outputs.
  Natural Factor(Index layer, Index function, Index row) const;

  // Bytes that the factors of such a table take.
  static double MemoryNeeded(const DeepGp& model, Index rows, bool uncertain_inputs);

 private:
  // The factors of one function, a row each: [h, T] along a direction, or h and the lower triangle
  // of T.
  struct Factors {
    Matrix now, change;
    Matrix directions;  // [rows, M], of the first layer under certain inputs; empty elsewhere
    Natural total;
    Belief q;

    bool line() const { return directions.size() > 0; }
    Natural Sum(const Vector& weights) const;
    Natural At(Index row) const;
  };
  // Holds the energy and its gradient, summed over rows.
  struct RowSums {
    double value = 0;  // sum of weight (log Z + sum_gps (phi(q_n) - phi(q)))
    DeepGp gradient;
    PerFunction<Matrix> phi_arguments;
    void Add(const RowSums& other);
  };

  void StartFactors(const Vector& parameters);
  // Turns the line factors to where the kernel now has their directions, and sums all factors anew.
  void Realign(const Vector& parameters, const CertainLayer& first);
  // Fills `change` for the rows whose cavity and matched posterior are distributions.
  void Propose(const Point& point, std::span<const Index> rows, CertainLayer* first);
  void ProposeLines(std::span<const Index> rows, const CertainLayer& first);
  // now += step * change, if all posteriors and cavities stay distributions.
  bool TryStep(double step);
  bool Refresh();  // total and q from `now`; false if a q is no distribution
  bool CavitiesAreProper() const;
  // The row's cavities of all dense functions; false if one is no distribution.
  bool SetCavities(const Point& point, Index row, RowStep* step,
                   PerFunction<Belief>* cavities) const;
  // The first layer's cavities of the rows and its moments under them.
  std::vector<LineCavities> FirstLayerUp(const DeepGp& model, std::span<const Index> rows,
                                         CertainLayer* first) const;
  void FirstLayerDown(const Point& point, const std::vector<LineCavities>& cavities,
                      const CertainLayer& first, RowSums* sums) const;
  RowSums NoSums() const;
  struct EnergyRow {
    Index n, i;    // its number in the table and in the batch
    double scale;  // what it counts for in F
    bool want_gradient;
  };
  // One row of the energy; with its gradient, where it is wanted, and that of the first layer's
  // outputs.
  void AddRow(const Point& point, const EnergyRow& row, CertainLayer* first, RowStep* step,
              RowSums* sums) const;
  RowSums SumRows(const Point& point, std::span<const Index> batch, double scale,
                  bool want_gradient, CertainLayer* first) const;
  double FactorTerms() const;  // of F, beside the rows
  double Energy(const Point& point, std::span<const Index> batch, DeepGp* gradient) const;

  PerFunction<Factors> factors_;
  Vector aligned_at_;  // the parameters at which the lines have their directions
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_EP_H_
