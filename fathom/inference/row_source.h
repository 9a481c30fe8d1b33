// The rows of a table that an energy sums over, wherever they are: in the memory of this process,
// or each rank's share in its own.
#ifndef FATHOM_INFERENCE_ROW_SOURCE_H_
#define FATHOM_INFERENCE_ROW_SOURCE_H_

#include <memory>
#include <span>
#include <vector>

#include "fathom/distributed/communicator.h"
#include "fathom/inference/log_z.h"

namespace fathom {

// What every rank knows of the table.
struct TableFacts {
  Index rows = 0;
  Index inputs = 0;
  Index targets = 0;
  Index uncertain = 0;  // 1 if an input has variance
  Index weighted = 0;   // 1 if the rows have weights
  double mean_weight = 1;
};

// Rows that were brought here; memory that is kept between calls.
struct FetchedRows {
  Moments x;
  Matrix y;
  Vector weights;
  std::vector<Index> places;
  Parcels out, in;
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  const TableFacts& facts() const { return facts_; }
  // Those among whom the rows are shared, and who sum over them together.
  virtual const Communicator& ranks() const = 0;
  // The given rows, in their order, as far as the plan deals them to this rank. All ranks call it
  // together. The result may refer to *memory, and to `rows`.
  virtual TableRows Fetch(std::span<const Index> rows, const SlotPlan& plan,
                          FetchedRows* memory) const = 0;

 protected:
  explicit RowSource(TableFacts facts) : facts_(facts) {}

 private:
  TableFacts facts_;
};

// All rows are here. Keeps references to x and y.
std::unique_ptr<RowSource> RowsHere(const Moments& x, const Matrix& y, Vector weights = {});

// Deals the rows of rank 0 to all ranks, in equal ranges; in each step, ranks send each other the
// rows that the plan deals to them. Alone, the same as RowsHere. Rank 0 calls ShareRows, the others
// ReceiveRows at the same time.
std::unique_ptr<RowSource> ShareRows(const Moments& x, const Matrix& y, const Vector& weights,
                                     const Communicator& ranks);
std::unique_ptr<RowSource> ReceiveRows(const Communicator& ranks);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_ROW_SOURCE_H_
