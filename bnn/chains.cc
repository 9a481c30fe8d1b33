#include "bnn/chains.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bnn/diagnostics.h"
#include "fathom/base/error.h"

namespace fathom::bnn {

void Chain::Keep(const Vector& w, double noise_variance) {
  FATHOM_CHECK(kept < weights.rows());
  weights.row(kept) = w;
  noise[kept] = noise_variance;
  ++kept;
}

PooledDraws Pool(const std::vector<Chain>& chains) {
  Index draws = 0;
  for (const Chain& chain : chains) draws += chain.size();
  PooledDraws pooled{Matrix(draws, chains.front().weights.cols()), Vector(draws)};
  Index first = 0;
  for (const Chain& chain : chains) {
    pooled.weights.middleRows(first, chain.size()) = chain.weights.topRows(chain.size());
    pooled.noise.segment(first, chain.size()) = chain.noise.head(chain.size());
    first += chain.size();
  }
  return pooled;
}

Agreement AgreementOf(const std::vector<Matrix>& traces) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> rhats;
  std::vector<double> sizes;
  for (const Matrix& trace : traces) {
    if (trace.cols() < 4) continue;
    const double rhat = SplitRhat(trace);
    if (!std::isfinite(rhat)) continue;
    rhats.push_back(rhat);
    sizes.push_back(EffectiveSampleSize(trace));
  }
  if (rhats.empty()) return {kNaN, kNaN, kNaN, kNaN};
  std::sort(rhats.begin(), rhats.end());
  std::sort(sizes.begin(), sizes.end());
  return {rhats[rhats.size() / 2], rhats.back(), sizes[sizes.size() / 2], sizes.front()};
}

Agreement AgreementOfOutputs(const MlpShape& shape, const std::vector<Chain>& chains,
                             const Matrix& X) {
  Index length = std::numeric_limits<Index>::max();
  for (const Chain& chain : chains) length = std::min(length, chain.size());
  std::vector<Matrix> traces(static_cast<std::size_t>(X.rows()),
                             Matrix(static_cast<Index>(chains.size()), length));
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (Index t = 0; t < length; ++t) {
      const Vector f = MlpOutputs({shape, chains[c].weights.row(t)}, X);
      for (std::size_t k = 0; k < traces.size(); ++k)
        traces[k](static_cast<Index>(c), t) = f[static_cast<Index>(k)];
    }
  }
  return AgreementOf(traces);
}

}  // namespace fathom::bnn
