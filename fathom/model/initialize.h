// Starting points for training, from standardised inputs. Which one is used, and every number in
// it, is part of the recipe.
#ifndef FATHOM_MODEL_INITIALIZE_H_
#define FATHOM_MODEL_INITIALIZE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "fathom/model/architecture.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

// x, standardised, [N, D]; outputs: number of target columns. No layer gets more pseudo-points than
// there are rows. All that is random follows from `seed`. `lengthscales` [D] are those of layer 0,
// and the pseudo-inputs and hidden units are then chosen in their metric; empty: all columns are
// alike, as the options say.
DeepGp Initialize(const Architecture& architecture, const InitializeOptions& options,
                  std::uint64_t seed, const Matrix& x, Index outputs,
                  const Vector& lengthscales = {});
// The same for inputs that are not in memory. read(rows) gives the inputs of the given rows, in
// their order; it is asked for few of many.
struct InputsElsewhere {
  Index rows = 0, cols = 0;
  std::function<Matrix(const std::vector<Index>& rows)> read;
};
DeepGp Initialize(const Architecture& architecture, const InitializeOptions& options,
                  std::uint64_t seed, const InputsElsewhere& x, Index outputs,
                  const Vector& lengthscales = Vector());

// Lloyd's algorithm from k-means++ seeds; [k, D]. Where x has fewer than k distinct rows, centres
// are moved apart a little.
Matrix KMeans(const Matrix& x, Index k, Index iterations, std::uint64_t seed);

// Columns: directions of unit variance of the scores x * loadings, by falling variance. Beyond the
// rank of x, random combinations of the directions.
Matrix PrincipalLoadings(const Matrix& x, Index count, std::uint64_t seed);

}  // namespace fathom

#endif  // FATHOM_MODEL_INITIALIZE_H_
