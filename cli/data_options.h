// The options that say how a table is read and what its columns are for, the same in every
// command. The model keeps them, so that 'fathom resume' can read the table again.
#ifndef FATHOM_CLI_DATA_OPTIONS_H_
#define FATHOM_CLI_DATA_OPTIONS_H_

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/cli11_fwd.h"
#include "fathom/data/bits.h"
#include "fathom/data/dataset.h"
#include "fathom/fitted/report.h"
#include "fathom/inference/predict.h"

namespace fathom::cli {

struct DataOptions {
  std::string table;
  std::string separator;
  bool header = false, no_header = false;
  std::vector<std::string> input_std;
  std::vector<std::string> targets, ignore, categorical,
      bits;  // lists such as "a,b", as they were given
  std::string weights, task = "auto";
  bool counts = false;
  std::string decimal = "auto", dates = "auto";
  std::vector<std::string> missing;  // lists, as they were given
};

// See large_tables.h.
struct MemoryOptions {
  std::string memory, packed;
};

// --separator, --decimal, --dates, --missing, --header, --no-header and --input-std: for every
// command that reads a table.
void AddReadingOptions(CLI::App* app, DataOptions* options);
// --target, --task, --ignore, --categorical, --bits, --weights and --counts: for those that learn
// from one.
void AddRoleOptions(CLI::App* app, DataOptions* options);
// Both: all but the table itself, which each command names in its own way.
void AddDataOptions(CLI::App* app, DataOptions* options);

// What the options mean to the library. Throw Error naming the option.
ReadOptions ReadingOf(const DataOptions& options, int threads);
Roles RolesOf(const DataOptions& options);
std::vector<BitColumn> BitsOf(const DataOptions& options);

// The table as it is read for these roles, and what --input-std says about its cells.
Table ReadTableFor(const DataOptions& options, const Roles& roles, int threads);
InputStd ReadInputStd(const DataOptions& options, int threads);
// The table as training data.
Dataset ReadData(const DataOptions& options, int threads);

// The table and the data options that `app` was given, as the text Model::data.origin.
std::string DescribeData(const CLI::App& app, const std::string& table);
// The reverse of DescribeData. Throws Error if the text is not one of its.
DataOptions DataFromDescription(const std::string& description);

// The table as rows for a model with this schema.
class RowsForModel {
 public:
  // `keep`: columns that are wanted as they are written, or all; see Kept.
  struct Wanted {
    bool targets_may_be_anything = false;
    std::vector<std::string> keep = {};
  };
  // `memory` as in large_tables.h: if it is limited, the rows stay in a packed copy.
  RowsForModel(const DataOptions& options, const MemoryOptions& memory, const Schema& schema,
               int threads, const Wanted& wanted);
  ~RowsForModel();
  // The table, without its rows if they are in a packed copy.
  const Table& table() const;
  const InputRows& rows() const;
  // The columns to keep, with the cells of rows first, first + 1, ... as they stand in the file.
  Table Kept(Index first, Index count) const;
  // Calls visit for one piece of the table after the other, so that predictions of a long table
  // need little memory. The options know the piece's place. A table without rows is one piece.
  void ForEachPiece(
      Index most_rows, const PredictOptions& options,
      const std::function<void(const Dataset& rows, const PredictOptions& options)>& visit) const;

 private:
  Dataset Read(Index first, Index count) const;

  struct State;
  std::unique_ptr<State> state_;
};

// --chunk: the most rows of a piece.
void AddChunk(CLI::App* app, Index* rows);

// One line on standard error for each.
void TellNotes(const std::vector<Note>& notes);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_DATA_OPTIONS_H_
