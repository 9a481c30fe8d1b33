// Trains networks under dropout and chooses its rate and the noise on held-out rows.
#ifndef FATHOM_BNN_DROPOUT_H_
#define FATHOM_BNN_DROPOUT_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "bnn/dropout_loss.h"
#include "bnn/job.h"
#include "bnn/training_rows.h"
#include "fathom/base/threads.h"

namespace fathom::bnn {

// Uniform in +- sqrt(6 / (n_in + n_out)) (Glorot and Bengio 2010), biases 0.
Vector GlorotStart(const MlpShape& shape, RandomStream* stream);

// The network that is left when one pass drops units: each column of each layer times its factor.
// The same for all rows, so that a pass is a draw of the weights.
Vector ThinnedWeights(const MlpShape& shape, const Vector& weights, double rate,
                      RandomStream* stream);

// 4000 epochs of Adam, or 2000 for tables from 20,000 rows on.
Index DefaultDropoutEpochs(Index rows);

// Ends early, with what it has, if the job was stopped.
Vector TrainDropout(const MlpShape& shape, const Rows& rows, const DropoutPrior& prior,
                    Index epochs, std::uint64_t seed, Job* job);
// Of one training, in steps.
double DropoutWork(Index rows, Index epochs);

// Of some passes [T, N], the precision tau that makes the targets most likely,
//   mean_n log mean_t N(y_n; f_tn, 1/tau),                                      [dropout-precision]
// by a grid over log tau from -2 to 16 and golden section. `log_likelihood` is its mean there.
struct PrecisionChoice {
  double precision = 1, log_likelihood = 0;
};
struct Passes {
  Matrix outputs;  // [T, N]
  Vector y;        // [N]
};
PrecisionChoice ChoosePrecision(const std::vector<Passes>& cuts);

struct DropoutTrial {
  double rate = 0;
  PrecisionChoice choice;
};
struct DropoutSearch {
  std::vector<double> rates = {0.005, 0.01, 0.05, 0.1};
  Index epochs = 4000;
  Index passes = 500;  // over the held-out rows
};
// Trains with every rate on the cuts and pools their held-out rows; the best rate stands first.
std::vector<DropoutTrial> TryDropoutRates(const MlpShape& shape, const std::vector<Cut>& cuts,
                                          const DropoutSearch& search, std::uint64_t seed,
                                          const ThreadPool& pool, Watch* watch);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_DROPOUT_H_
