// Small random models and tables. All numbers are of order 1, so that every parameter matters and
// central differences are accurate.
#ifndef FATHOM_TESTS_SUPPORT_RANDOM_MODEL_H_
#define FATHOM_TESTS_SUPPORT_RANDOM_MODEL_H_

#include <vector>

#include "fathom/base/random.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

struct RandomModelOptions {
  Index inputs = 2;
  std::vector<Index> hidden = {};
  Index outputs = 1;
  Index M = 4;
  bool sites = false;
  bool skip = false;
  bool shared = false;
  bool linear_mean = false;  // of the hidden layers
  Propagation propagation = Propagation::kMoments;
};

Vector RandomVector(Index size, RandomStream* stream);

// Positive numbers around `centre`.
Vector RandomPositive(Index size, double centre, RandomStream* stream);
Matrix RandomLower(Index M, double diagonal, RandomStream* stream);
Matrix RandomSymmetric(Index M, RandomStream* stream);
Sites RandomSites(Index M, RandomStream* stream);
Whitened RandomWhitened(Index M, RandomStream* stream);
SparseGp RandomGp(Index M, Index D, bool sites, RandomStream* stream);
DeepGp RandomModel(const RandomModelOptions& options, RandomStream* stream);

// Every third cell of every second row is uncertain.
void AddInputVariance(RandomStream* stream, Moments* x);

// Rows with targets, of a table that was never a file.
struct LabelledRows {
  Moments x;
  Matrix y;
};

LabelledRows RandomRows(Index rows, Index inputs, Index outputs, bool uncertain,
                        RandomStream* stream);

std::vector<Index> AllRows(Index rows);

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_RANDOM_MODEL_H_
