// The rows to learn from, wherever they are: in memory, or in a packed table on disk. Whoever goes
// through them block by block, or asks for some of them, need not know.
#ifndef FATHOM_DATA_DATASET_ROWS_H_
#define FATHOM_DATA_DATASET_ROWS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/dataset.h"
#include "fathom/data/packed_table.h"

namespace fathom FATHOM_PUBLIC {

class DatasetRows {
 public:
  virtual ~DatasetRows() = default;

  virtual Index rows() const = 0;
  virtual bool weighted() const = 0;  // the rows have weights
  // A dataset without rows, but with all else: source, schema, notes.
  virtual const Dataset& head() const = 0;
  // All rows, if they are in memory; else null.
  virtual const Dataset* whole() const { return nullptr; }
  // The given rows in the given order. Any number of threads may read.
  virtual Dataset Read(std::span<const Index> rows) const = 0;
  // All rows in their order, some at a time.
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
  void ForEachBlock(const std::function<void(const Dataset& rows)>& visit) const override {
    visit(dataset_);
  }

 private:
  Dataset dataset_, head_;
};

// What MakeDataset makes of a table, but made of each row when it is asked for.
class RowsOnDisk : public DatasetRows {
 public:
  // Throws Error as MakeDataset does. The standard deviations must be those of whole columns.
  RowsOnDisk(PackedTable table, const Roles& roles, const InputStd& std = {});
  ~RowsOnDisk() override;

  // Something that the user should know, beside what was found in the table.
  void AddNote(Note note);

  Index rows() const override;
  bool weighted() const override { return !schema().weights.empty(); }
  const Dataset& head() const override;
  Dataset Read(std::span<const Index> rows) const override;
  void ForEachBlock(const std::function<void(const Dataset& rows)>& visit) const override;

 private:
  struct State;
  Dataset Make(const Matrix& cells, std::vector<Index> table_rows) const;
  std::unique_ptr<State> state_;
};

// All rows in memory; what MakeDataset would have made.
Dataset ReadAll(const DatasetRows& rows);

}  // namespace fathom

#endif  // FATHOM_DATA_DATASET_ROWS_H_
