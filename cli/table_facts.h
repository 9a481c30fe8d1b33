// What 'fathom inspect' finds out about a table, and what 'fathom fit' would make of it.
#ifndef FATHOM_CLI_TABLE_FACTS_H_
#define FATHOM_CLI_TABLE_FACTS_H_

#include <cmath>
#include <string>
#include <vector>

#include "cli/data_options.h"
#include "cli/target_kind.h"
#include "fathom/data/table_faults.h"

namespace fathom::cli {

struct Level {
  std::string text;
  Index rows = 0;
};

struct ColumnFacts {
  std::string name;
  // Or "number", "text", "bits", "date", "time" or its unit, such as "kg".
  std::string type = "empty";
  const char* role = "input";  // or "target", "weights", "index" or "id"
  Index missing = 0;
  std::vector<Level> missing_words = {};  // that stand for missing numbers, the most first
  double min = std::nan(""), mean = std::nan(""), max = std::nan("");  // of numbers
  std::vector<Level> levels = {};                                      // of strings, the most first
  bool constant = false;
  double correlation = std::nan("");  // with the first target, if both are numbers
  std::string problem = {};  // why fit would refuse it as an input, or should; empty: it would not
  bool looks_like_bits = false;
};

// What fit would do, or why it would refuse.
struct FitPlan {
  Schema schema;
  Index rows = 0;
  std::vector<Note> notes;
  std::string refusal;
};

struct TableFacts {
  std::string source;
  std::vector<TableFault> faults;
  std::string proposal;      // the command line that would work; empty: none is known
  LikelyTarget target_kind;  // where there is a proposal
  std::string alternative;   // the command line for that kind; empty: the proposal
  Index rows = 0;
  std::vector<ColumnFacts> columns;
  std::vector<std::string> left_out;  // by --ignore
  FitPlan plan;
};

// Throws Error if the table cannot be read.
TableFacts FindTableFacts(const DataOptions& options);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_TABLE_FACTS_H_
