// The hyperparameters of a neighbour GP, learnt from how well each row is predicted without itself.
#ifndef FATHOM_NEIGHBOUR_FIT_NEIGHBOUR_GP_H_
#define FATHOM_NEIGHBOUR_FIT_NEIGHBOUR_GP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/neighbour/neighbour_gp.h"
#include "fathom/optimize/progress.h"

namespace fathom {

struct NeighbourFit {
  Correlation correlation = Correlation::kMatern12;
  Index neighbours = 32;
  Index steps = 120;
  Index batch_size = 256;
  double learning_rate = 0.2;
  Index most_rows = 4096;        // of a larger table a random part teaches the hyperparameters
  double lengthscale_prior = 1;  // sd of log l around log sqrt(D), as in lengthscale_prior.h
  double noise_floor = 1e-6;     // in units of the variance of y
  std::uint64_t seed = 1;
  std::optional<NeighbourGp> start =
      {};  // hyperparameters to begin with, which have the noise floor
};

// `copies` as FindCopies returns them. The callback may be null; returning false ends the fit with
// what has been reached.
NeighbourGp FitNeighbourGp(const NeighbourData& data, const std::vector<std::int32_t>& copies,
                           const NeighbourFit& options, const ThreadPool& pool,
                           const std::function<bool(const Progress&)>& callback = nullptr);

// [N, m]: the neighbours of all training rows, each without itself and its copies.
Neighbours FindOthers(const NeighbourGp& gp, const NeighbourData& data,
                      const std::vector<std::int32_t>& copies, Index m, const ThreadPool& pool);

// Mean and variance [N, 1] of every training row from these neighbours [N, m].
Moments MomentsFrom(const NeighbourGp& gp, const NeighbourData& data, const Neighbours& neighbours,
                    const ThreadPool& pool);
// The mean log density of the training rows whose target is known, by their weights.
double MeanLogDensity(const NeighbourData& data, const Moments& moments);
// How many of the neighbours [N, m] are worth their time at every prediction: m, or 32 if those
// behind tell next to nothing, as where a function is rough. Below 500 rows, which hardly say so,
// it is m. `by_all` are the moments from all m.
Index EnoughNeighbours(const NeighbourGp& gp, const NeighbourData& data,
                       const Neighbours& neighbours, const Moments& by_all, const ThreadPool& pool);

// Which rows may not help to predict each other, and which are left out together.
struct RowGroups {
  const std::vector<std::int32_t>& copies;       // [N]
  const std::vector<std::int32_t>& fold_of_row;  // [N]
};
// The same with hyperparameters that have not seen the row either, because in a small table they
// can bend to its rows. Each row has those of the rows outside its fold; a few steps lead to them
// from `gp`, those of all rows. In a large table `gp` serves all rows.
Moments HonestMoments(const NeighbourGp& gp, const NeighbourData& data, const RowGroups& groups,
                      const Neighbours& neighbours, const ThreadPool& pool);

}  // namespace fathom

#endif  // FATHOM_NEIGHBOUR_FIT_NEIGHBOUR_GP_H_
