// The tied-factor (approximate EP) energy of a deep GP on a table:
//   F = sum_gps [(1 - N/alpha) phi(posterior) + (N/alpha) phi(cavity)]                    [energy]
//       + N/(alpha |B|) sum_{n in B} w_n log Z_n / (mean w)
// where w_n, 1 unless given, is how many rows row n counts as, and N their sum over the table.
// alpha = 1 is the paper's energy, alpha = 0 its variational limit, between them power EP. Larger F
// is better; as an Objective it is -F/N, so that values of tables of different size compare.
#ifndef FATHOM_INFERENCE_AEP_ENERGY_H_
#define FATHOM_INFERENCE_AEP_ENERGY_H_

#include <memory>
#include <mutex>
#include <vector>

#include "fathom/inference/row_source.h"
#include "fathom/inference/share_functions.h"
#include "fathom/model/packing.h"
#include "fathom/optimize/objective.h"

namespace fathom {

struct AepOptions {
  double alpha = 0.7;
  // The number of rows that the factor stands for; 0 means the rows of the table, by their weights.
  double N = 0;
  double noise_floor = 0;
  Vector weights = {};  // [rows], positive: how many rows each counts as; empty: one
  // With sampled hidden units: whether a row's paths are mixed with power 1 (alpha then acts inside
  // each path only) instead of alpha.
  bool mixture = true;
  std::uint64_t seed = 1;  // of the paths
  Precision precision = Precision::kDouble;
};

struct EnergyParts {
  double F = 0;
  double factors = 0;    // the GPs' own share
  double sum_log_z = 0;  // over the batch, not scaled up to the table
  double largest_jitter = 0;
};

class AepEnergy : public Objective {
 public:
  // Keeps references to x, y and pool. `shape` gives the architecture.
  AepEnergy(const DeepGp& shape, const Moments& x, const Matrix& y, const AepOptions& options,
            const ThreadPool& pool);
  // The weights of the rows are the source's, not those of the options. Where the rows are shared
  // by ranks, rank 0 evaluates and the others Help until rank 0's energy is destroyed.
  AepEnergy(DeepGp shape, std::unique_ptr<const RowSource> rows, AepOptions options,
            const ThreadPool& pool);
  ~AepEnergy() override;
  AepEnergy(const AepEnergy&) = delete;
  AepEnergy& operator=(const AepEnergy&) = delete;

  Index num_parameters() const override;
  Index num_rows() const override { return rows_->facts().rows; }
  bool Evaluate(const Vector& parameters, const Batch& batch, double* value, Vector* gradient,
                std::string* reason) const override;
  void WillNeed(std::span<const Index> rows) const override { rows_->WillNeed(rows); }

  // The same without the packing: F itself, its gradient with respect to the plain parameters and,
  // besides, that with respect to the raw inputs of the batch's rows [rows, D], their means and
  // their variances. Either may be null. Throws NumericalError.
  EnergyParts Energy(const DeepGp& model, const Batch& batch, DeepGp* gradient,
                     Moments* d_x = nullptr) const;
  // F at packed parameters. Throws NumericalError.
  EnergyParts EnergyAt(const Vector& parameters, const Batch& batch) const;

  // On every rank but the first: does this rank's part of each evaluation at rank 0.
  void Help() const;

  double N() const { return options_.N; }  // rows that the energy stands for, by their weights
  Packing packing() const { return {options_.noise_floor}; }

 private:
  struct Workspace;
  std::unique_ptr<Workspace> Borrow() const;
  void Return(std::unique_ptr<Workspace> workspace) const;
  struct Gradient {  // where it goes; null: not wanted
    DeepGp* model = nullptr;
    Moments* inputs = nullptr;
  };
  struct Call;  // what rank 0 asks the others to do
  // The functions of this rank, O(M^3); then the network that rows pass through, of all functions.
  void Condition(const DeepGp& model, Workspace* workspace) const;
  void Connect(const DeepGp& model, bool inputs, Workspace* workspace) const;
  const Sums& SumOverRows(const DeepGp& model, const Batch& batch, Want want,
                          Workspace* workspace) const;
  // What a row of a batch stands for in the energy: it multiplies the sums over rows.
  double ScaleOfSums(std::size_t rows) const;
  // From the sums, each rank for its functions; rank 0 then has the whole gradient.
  void Backward(const DeepGp& model, const Sums& sums, double scale, DeepGp* gradient,
                Workspace* workspace) const;
  EnergyParts Energy(const DeepGp& model, const Batch& batch, const Gradient& gradient,
                     Workspace* workspace) const;
  EnergyParts CallAndEvaluate(const Vector& parameters, const Batch& batch, DeepGp* gradient,
                              Workspace* workspace) const;

  DeepGp shape_;
  std::unique_ptr<const RowSource> rows_;
  AepOptions options_;
  const ThreadPool& pool_;
  NetworkOptions network_options_;
  FunctionShares shares_;
  Index num_parameters_;
  // Memory of past evaluations, one piece per evaluation that ran at the same time.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_AEP_ENERGY_H_
