// Chains of stochastic gradient Langevin dynamics, and the choice of their step and prior on
// held-out rows.
#ifndef FATHOM_BNN_SGLD_H_
#define FATHOM_BNN_SGLD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "bnn/chains.h"
#include "bnn/job.h"
#include "bnn/sgld_step.h"
#include "bnn/training_rows.h"
#include "fathom/base/threads.h"

namespace fathom::bnn {

// The variance of all weights of a layer under the prior.
enum class PriorScale {
  kFanIn,  // 1/(n_in + 1)
  kUnit,   // 1
};
constexpr auto NamesOf(PriorScale) {
  return std::to_array<EnumName<PriorScale>>(
      {{PriorScale::kFanIn, "fan-in"}, {PriorScale::kUnit, "unit"}});
}

struct SgldOptions {
  Index steps = 20000;  // the first third is burn-in
  Index draws = 400;    // kept of each chain
  Index chains = 4;
  Index start_steps = 1500;  // of Adam, to where a chain starts
  // Without a preconditioner, as the paper has it: `step` is then divided by the rows.
  bool plain = false;
  double step = 1e-3;     // of the weights and, unless it is given, of kappa
  double kappa_step = 0;  // 0: as `step`
  PriorScale prior = PriorScale::kFanIn;
  Index attempt = 0;  // keeps its chains apart from those of other attempts of one fit
};

// Nothing if it diverged: a weight is not finite, or the squared residuals grew tenfold.
std::optional<Chain> SampleSgldChain(const MlpShape& shape, const Rows& rows,
                                     const SgldOptions& options, std::uint64_t seed, Job* job);

// All chains that did not diverge.
std::vector<Chain> SampleSgld(const MlpShape& shape, const Rows& rows, const SgldOptions& options,
                              std::uint64_t seed, const ThreadPool& pool, Watch* watch);

struct SgldTrial {
  double step = 0;
  PriorScale prior = PriorScale::kFanIn;
  double log_likelihood = 0;  // mean over held-out rows, standardised; -infinity if it diverged
};

// Tries every step and prior for a quarter of the length on held-out rows; the best stands first.
std::vector<SgldTrial> TrySgldSettings(const MlpShape& shape, const std::vector<Cut>& cuts,
                                       const SgldOptions& options, std::uint64_t seed,
                                       const ThreadPool& pool, Watch* watch);
// Of those trials, in steps of all chains together.
double SgldTrialWork(std::size_t cuts, const SgldOptions& options);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_SGLD_H_
