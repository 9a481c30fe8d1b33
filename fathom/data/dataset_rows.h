// The rows to learn from, wherever they are: in memory, in a packed table on disk, or with the
// ranks that have parsed them. Whoever asks for their statistics, or for some of them, need not
// know.
#ifndef FATHOM_DATA_DATASET_ROWS_H_
#define FATHOM_DATA_DATASET_ROWS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/dataset.h"
#include "fathom/data/packed_table.h"
#include "fathom/data/row_statistics.h"

namespace fathom FATHOM_PUBLIC {

class DatasetRows {
 public:
  virtual ~DatasetRows() = default;

  virtual Index rows() const = 0;     // of all ranks
  virtual bool weighted() const = 0;  // the rows have weights
  // A dataset without rows, but with all else: source, schema, notes.
  virtual const Dataset& head() const = 0;
  // All rows, if they are in memory; else null.
  virtual const Dataset* whole() const { return nullptr; }
  // The given rows in the given order. Any number of threads may read.
  virtual Dataset Read(std::span<const Index> rows) const = 0;
  // No input cell is missing or has a variance. False where nobody has looked.
  virtual bool certain() const { return false; }
  virtual const RowStatistics& statistics() const = 0;  // of all rows; computed when first asked
  virtual std::string fingerprint() const = 0;          // see fingerprint.h

  // Those who hold the rows, and the first row of each, with the number of all rows behind them.
  virtual const Communicator& ranks() const;
  virtual std::vector<Index> firsts() const { return {0, rows()}; }
  // The rows that are held here in their order, some at a time: all of them, unless there are other
  // ranks.
  virtual void ForEachBlock(const std::function<void(const Dataset& rows)>& visit) const = 0;

  const std::string& source() const { return head().source(); }
  const Schema& schema() const { return head().schema(); }
};

// Shares the numbers of the dataset. One block.
class RowsInMemory : public DatasetRows {
 public:
  explicit RowsInMemory(const Dataset& dataset);

  Index rows() const override { return dataset_.rows(); }
  bool weighted() const override { return dataset_.weights().size() > 0; }
  const Dataset& head() const override { return head_; }
  const Dataset* whole() const override { return &dataset_; }
  Dataset Read(std::span<const Index> rows) const override { return Subset(dataset_, rows); }
  const RowStatistics& statistics() const override;
  std::string fingerprint() const override;
  void ForEachBlock(const std::function<void(const Dataset& rows)>& visit) const override {
    visit(dataset_);
  }

 private:
  Dataset dataset_, head_;
  mutable std::once_flag collected_;
  mutable std::optional<RowStatistics> statistics_;
};

// What MakeDataset makes of a table, but made of each row when it is asked for. If the rows lie
// with several ranks, the first one makes this object and asks the others, which make theirs by
// Hold and answer by Help; then only one thread may ask.
class RowsOnDisk : public DatasetRows {
 public:
  // Throws Error as MakeDataset does. The standard deviations must be those of whole columns.
  RowsOnDisk(PackedTable table, const Roles& roles, const InputStd& std = {});
  ~RowsOnDisk() override;

  // Another rank, after Order::kHold. Null if this is no training data; the first rank then says
  // why.
  static std::unique_ptr<RowsOnDisk> Hold(PackedTable table);
  void Help() const;  // after Order::kRows

  // Something that the user should know, beside what was found in the table.
  void AddNote(Note note);

  Index rows() const override;
  bool weighted() const override { return !schema().weights.empty(); }
  const Dataset& head() const override;
  Dataset Read(std::span<const Index> rows) const override;
  const RowStatistics& statistics() const override;
  std::string fingerprint() const override;
  bool certain() const override;
  const Communicator& ranks() const override;
  std::vector<Index> firsts() const override;
  void ForEachBlock(const std::function<void(const Dataset& rows)>& visit) const override;

 private:
  struct State;
  struct Unmade {};
  RowsOnDisk(PackedTable table, Unmade /*tag*/);
  void MakeHead(const Roles& roles, const InputStd& std);
  void PickRows(std::vector<Note>* notes);
  void FindMeanWeight();
  RowStatistics Collect() const;
  // The cells of some rows at the first rank, with the number of each row in the table behind them.
  Matrix GatherRows(std::span<const Index> rows) const;
  Dataset Make(const Matrix& cells, std::vector<Index> table_rows) const;
  std::unique_ptr<State> state_;
};

// All rows in memory; what MakeDataset would have made.
Dataset ReadAll(const DatasetRows& rows);

}  // namespace fathom

#endif  // FATHOM_DATA_DATASET_ROWS_H_
