#include "fathom/data/whiten.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

std::vector<Index> EvenSample(Index rows) {
  constexpr Index kMostRows = 20'000;
  const Index stride = std::max<Index>(1, (rows + kMostRows - 1) / kMostRows);
  std::vector<Index> sample;
  for (Index n = 0; n < rows; n += stride) sample.push_back(n);
  return sample;
}

PrincipalDirections FindPrincipalDirections(const Matrix& x) {
  FATHOM_CHECK(x.rows() > 0 && x.allFinite());
  const Matrix centred = x.rowwise() - x.colwise().mean();
  const Matrix covariance = centred.transpose() * centred / static_cast<double>(x.rows());
  const Eigensystem system = SymmetricEigensystem(covariance);
  const Vector& ascending = system.values;
  const Index D = ascending.size();
  const double least = 1e-10 * ascending[D - 1];
  const Index R = (ascending.array() > least).count();
  PrincipalDirections out;
  out.variance = ascending.tail(R).reverse();
  out.directions = system.vectors.rightCols(R).rowwise().reverse();
  for (Index r = 0; r < R; ++r) {
    auto direction = out.directions.col(r);
    // The sign is arbitrary; fix it, so that a model does not depend on the solver's taste.
    Index largest = 0;
    direction.cwiseAbs().maxCoeff(&largest);
    direction /= (direction[largest] < 0 ? -1 : 1) * std::sqrt(out.variance[r]);
  }
  return out;
}

bool HidesInSmallDirections(const PrincipalDirections& principal, const Matrix& x,
                            const Matrix& y) {
  constexpr double kSmall = 0.03;
  if (x.rows() < 10 * x.cols()) return false;
  // The scores are uncorrelated, so that each explains its squared covariance with the target.
  const Matrix scores = (x.rowwise() - x.colwise().mean()) * principal.directions;
  const Matrix explained = (scores.transpose() * y / static_cast<double>(x.rows())).cwiseAbs2();
  const Index small = (principal.variance.array() < kSmall).count();
  for (Index t = 0; t < y.cols(); ++t) {
    const double all = explained.col(t).sum();
    // Chance alone explains D / N of the variance of pure noise.
    if (all > 0.1 && explained.col(t).tail(small).sum() > 0.5 * all) return true;
  }
  return false;
}

}  // namespace fathom
