// How the errors of a neighbour GP at several rows hang together. Row n is predicted as w_n'y of
// its neighbours, so its error is f_n - w_n'y. Under the GP that all rows share, two errors have
//   cov = k(x_n, x_m) - w_n'k(Z_n, x_m) - k(x_n, Z_m) w_m + w_n'(k(Z_n, Z_m) + s I) w_m,
//                                                                           [neighbour-covariance]
// where s I joins a training row to itself alone. For n = m this is the variance of
// [neighbour-moments] without the noise of the row. It is the covariance of real random variables,
// so it is positive semi-definite, though no two rows see the same neighbours.
#ifndef FATHOM_NEIGHBOUR_NEIGHBOUR_COVARIANCE_H_
#define FATHOM_NEIGHBOUR_NEIGHBOUR_COVARIANCE_H_

#include "fathom/base/threads.h"
#include "fathom/neighbour/neighbour_gp.h"

namespace fathom {

// [N, N] over the rows of `queries`, whose neighbours are the rows of `neighbours`. With U training
// rows that are a neighbour of any query, O(U^2 + N m U + N m^3).
Matrix NeighbourCovariance(const NeighbourGp& gp, const NeighbourData& data, const Moments& queries,
                           const Neighbours& neighbours, const ThreadPool& pool);

}  // namespace fathom

#endif  // FATHOM_NEIGHBOUR_NEIGHBOUR_COVARIANCE_H_
