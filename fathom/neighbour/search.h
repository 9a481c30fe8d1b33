// The nearest training rows of a row, in the metric of scaled columns
//   r2 = sum_d ((x_d - z_d)^2 + var x_d + var z_d) / l_d^2.
#ifndef FATHOM_NEIGHBOUR_SEARCH_H_
#define FATHOM_NEIGHBOUR_SEARCH_H_

#include <memory>
#include <span>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/base/types.h"
#include "fathom/neighbour/neighbour_gp.h"

namespace fathom {

// Rows with the same number are copies of each other: training rows are predicted without their
// copies, as if they were one row that nobody has seen. -1: none.
std::vector<std::int32_t> FindCopies(const Moments& x, const Matrix& y);

// Holds scaled copies of the training rows, O(N D), in the leaves of a k-d tree. Immutable.
class NeighbourSearch {
 public:
  // `copies` [N] may be empty. So may `unknown` [N]: the rows whose target is not known, which are
  // nobody's neighbours.
  NeighbourSearch(const Moments& x, const Vector& lengthscales, std::vector<std::int32_t> copies,
                  const std::vector<bool>& unknown = {});
  ~NeighbourSearch();
  NeighbourSearch(const NeighbourSearch&) = delete;
  NeighbourSearch& operator=(const NeighbourSearch&) = delete;

  Index rows() const;
  // [rows, m]: nearest first; equally near ones by their place. Neighbours that are not there are
  // -1.
  Neighbours Find(const Moments& queries, Index m, const ThreadPool& pool) const;
  // The numbers of the queries in an order in which near ones follow each other. Many queries are
  // answered faster so, since they find the same rows in the cache.
  std::vector<Index> InOrder(const Moments& queries, const ThreadPool& pool) const;
  // The same of training rows, each without itself and its copies.
  Neighbours FindOthers(std::span<const Index> rows, Index m, const ThreadPool& pool) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom

#endif  // FATHOM_NEIGHBOUR_SEARCH_H_
