#include "cli/large_tables.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <utility>

#include "cli/common.h"
#include "fathom/base/memory.h"
#include "fathom/data/table_parts.h"
#include "fathom/distributed/communicator.h"
#include "fathom/fit/memory_need.h"

namespace fathom::cli {

namespace {

InputStd StdOfColumns(const DataOptions& data, int threads) {
  InputStd std = ReadInputStd(data, threads);
  if (!std.cells.columns.empty()) {
    ThrowError("--memory: ", std.cells.source,
               " has a standard deviation for each cell, which must fit into memory; give",
               " --input-std NAME=NUMBER, or leave --memory out");
  }
  return std;
}

// Whether each rank may keep the rows that it parses. What sorts or copies whole tables wants them
// at the first rank.
bool MayStayWithRanks(const DataOptions& data, const MemoryOptions& memory,
                      const ReadOptions& reading, const Recipe& recipe) {
  return recipe.stack == Stacking::kNever && recipe.inference == Inference::kAep &&
         recipe.warping != Warping::kAlways && memory.packed.empty() &&
         SplitLists(data.bits).empty() && MayStayWithRanks(data.table, reading) &&
         ReadInputStd(data, recipe.threads).cells.columns.empty();
}

}  // namespace

void AddMemoryOptions(CLI::App* app, MemoryOptions* options) {
  app->add_option("--memory", options->memory,
                  "Memory that may be used, such as 2GB; a table that needs more is packed into a "
                  "file and read from there as it is needed")
      ->type_name("SIZE");
  app->add_option("--packed", options->packed,
                  "With --memory: keep the packed copy in this file, and use it again while the "
                  "table and the way it is read stay the same")
      ->type_name("FILE");
}

double MemoryOf(const MemoryOptions& options) {
  if (options.memory.empty()) {
    if (!options.packed.empty())
      ThrowError("--packed: goes with --memory; say how much memory may be used");
    return HUGE_VAL;
  }
  const double bytes = ParseBytes("--memory", options.memory);
  if (bytes < kLeastMemory) {
    ThrowError("--memory: ", options.memory, " is too little for the program alone; give at least ",
               MemoryText(kLeastMemory));
  }
  return bytes;
}

std::vector<std::string> FilesReadBy(const DataOptions& data, const MemoryOptions& memory) {
  std::vector<std::string> files = PartsOf(data.table);
  if (!memory.packed.empty()) files.push_back(memory.packed);
  return files;
}

PackedTable Pack(const DataOptions& data, const MemoryOptions& memory, const ReadOptions& reading,
                 PackOptions options) {
  if (!memory.packed.empty() && memory.packed == data.table)
    ThrowError("--packed: ", memory.packed, " is the table itself; name another file");
  options.keep = memory.packed;
  return PackedTable(data.table, reading, options);
}

std::unique_ptr<DatasetRows> ReadRows(const DataOptions& data, const MemoryOptions& memory,
                                      const Recipe& recipe) {
  const double most = MemoryOf(memory);
  const Roles roles = RolesOf(data);
  const ReadOptions reading = ReadingFor(roles, ReadingOf(data, recipe.threads));
  const bool share = MayStayWithRanks(data, memory, reading, recipe);
  if (most == HUGE_VAL && !share)
    return std::make_unique<RowsInMemory>(ReadData(data, recipe.threads));
  if (!SplitLists(data.bits).empty())
    ThrowError("--memory: --bits columns must fit into memory; leave one of the two out");
  const InputStd std = StdOfColumns(data, recipe.threads);
  // A rank has its share as it was parsed and as the network sees it, which takes half.
  auto rows = std::make_unique<RowsOnDisk>(
      Pack(data, memory, reading, {.share = share, .memory = most / 4}), roles, std);
  const double need = MemoryNeed(*rows, recipe);
  const bool here = rows->ranks().size() == 1;
  if (here && need <= most) return std::make_unique<RowsInMemory>(ReadAll(*rows));
  if (!here && need <= most * rows->ranks().size()) return rows;
  CheckRowsMayBeElsewhere(recipe);
  rows->AddNote({"streamed", rows->rows(),
                 rows->source() + ": a training in memory would take about " + MemoryText(need) +
                     ", more than --memory " + memory.memory +
                     "; one network learns all rows in batches that are read from a packed copy"});
  return rows;
}

}  // namespace fathom::cli
