// The rows of a table that an energy sums over, wherever they are: in the memory of this process,
// on disk, or each rank's share with that rank.
#ifndef FATHOM_INFERENCE_ROW_SOURCE_H_
#define FATHOM_INFERENCE_ROW_SOURCE_H_

#include <cmath>
#include <functional>
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

// The facts of a table whose blocks are seen in their order.
class FactsCollector {
 public:
  void Add(const Moments& x, const Matrix& y, const Vector& weights);
  const TableFacts& facts();

 private:
  TableFacts facts_;
  double weight_sum_ = 0;
};

// A table that is not in memory.
struct RowReader {
  TableFacts facts;
  // Puts the given rows, in their order, into x, y and weights of *to. Any number of threads may
  // read.
  std::function<void(std::span<const Index> rows, FetchedRows* to)> read;
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
  // Says which rows are fetched after the next ones. See Objective.
  virtual void WillNeed(std::span<const Index> /*rows*/) const {}

 protected:
  explicit RowSource(TableFacts facts) : facts_(facts) {}

 private:
  TableFacts facts_;
};

// All rows are here. Keeps references to x and y.
std::unique_ptr<RowSource> RowsHere(const Moments& x, const Matrix& y, Vector weights = {});

// Rows that are read when they are wanted, by a thread of its own if WillNeed was told in time.
std::unique_ptr<RowSource> RowsElsewhere(RowReader reader);

// Rows that are with this rank already, scaled.
struct RowsInPlace {
  TableFacts facts;           // of the rows that are here
  std::vector<Index> firsts;  // [ranks + 1]: the first row of each rank, and the number of all
  std::function<void(
      const std::function<void(const Moments& x, const Matrix& y, const Vector& weights)>& visit)>
      for_each_block;
};
// Leaves the rows where they are. All ranks call it together. The rest is as for ShareRows.
std::unique_ptr<RowSource> KeepRows(const RowsInPlace& rows, const Communicator& ranks,
                                    double memory);

// Deals the rows of rank 0 to all ranks, in equal ranges; in each step, ranks send each other the
// rows that the plan deals to them. A share that takes more than `memory` bytes is put into a
// temporary file of its rank. Alone, the same as RowsHere and RowsElsewhere. Rank 0 calls
// ShareRows, the others ReceiveRows at the same time.
std::unique_ptr<RowSource> ShareRows(const Moments& x, const Matrix& y, const Vector& weights,
                                     const Communicator& ranks, double memory = HUGE_VAL);
std::unique_ptr<RowSource> ShareRows(RowReader reader, const Communicator& ranks,
                                     double memory = HUGE_VAL);
std::unique_ptr<RowSource> ReceiveRows(const Communicator& ranks);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_ROW_SOURCE_H_
