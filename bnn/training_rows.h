// From a dataset to the rows that a network is trained on, and to parts of it that are held out to
// choose settings by.
#ifndef FATHOM_BNN_TRAINING_ROWS_H_
#define FATHOM_BNN_TRAINING_ROWS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "bnn/weight_posterior.h"
#include "fathom/data/dataset.h"
#include "fathom/data/standardize.h"

namespace fathom::bnn {

struct TrainingRows {
  Scaler input_scaler, target_scaler;
  Moments x;  // standardised inputs; a missing or noisy cell has a variance
  Rows rows;  // their means, and the standardised targets

  Index size() const { return rows.size(); }
};

// Scales with the means and the population deviations of these rows. A column that varies by no
// more than rounding is only shifted; a table of nothing but zeros and ones stays as it is. Throws
// Error unless there is one target, a number that varies, and no row has a weight.
TrainingRows Standardize(const Dataset& dataset);

// Other rows as a network that was trained on `train` sees them.
Rows StandardizeLike(const TrainingRows& train, const Dataset& dataset);

// A part of the rows to train on, scaled by itself, and the others to judge by.
struct Cut {
  TrainingRows train;
  Rows held_out;
};

// Three random cuts of 80 and 20 % for tables of fewer than 2000 rows, else one of 90 and 10 %.
std::vector<Cut> MakeCuts(const Dataset& dataset, std::uint64_t seed);

// A seed of its own for each purpose, so that no two share their random numbers.
std::uint64_t SeedFor(std::uint64_t seed, std::string_view purpose);

// Batches as a function of the step: every epoch has an order of its own. What is left of an epoch
// is a smaller batch, or is left out.
class BatchPlan {
 public:
  enum class Remainder { kKeep, kDrop };
  BatchPlan(const Rows& rows, Index batch_size, Remainder remainder, std::uint64_t seed);

  Index steps_per_epoch() const { return steps_per_epoch_; }
  // All rows, without a copy, if they are one batch.
  const Rows& At(Index step);

 private:
  const Rows& rows_;
  Index size_, steps_per_epoch_;
  std::uint64_t seed_;
  Index epoch_ = -1;
  std::vector<Index> order_;
  Rows batch_;
};

// 128 rows for tables of up to 2000, 256 above; never more than there are.
Index DefaultBatchSize(Index rows);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_TRAINING_ROWS_H_
