// The table to learn from: the options that say how it is read, and their memory in the model, by
// which 'fathom resume' reads it again.
#ifndef FATHOM_CLI_DATA_OPTIONS_H_
#define FATHOM_CLI_DATA_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "fathom/data/dataset.h"

namespace fathom::cli {

struct DataOptions {
  std::string table;
  std::vector<std::string> targets, ignore;
};

// All but the table itself, which each command names in its own way.
void AddDataOptions(CLI::App* app, DataOptions* options);

Dataset ReadData(const DataOptions& options, int threads);

// The table and the data options that `app` was given, as the text Model::data.origin.
std::string DescribeData(const CLI::App& app, const std::string& table);
// The same back. Throws Error if the text is not one of DescribeData's.
DataOptions DataFromDescription(const std::string& description);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_DATA_OPTIONS_H_
