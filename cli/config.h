// Options from a configuration file, and the options of a run as such a file.
#ifndef FATHOM_CLI_CONFIG_H_
#define FATHOM_CLI_CONFIG_H_

#include <map>
#include <string>
#include <vector>

#include "cli/cli11_fwd.h"

namespace fathom::cli {

// The name of an option in configuration files: "steps" for --steps, "train" for TRAIN.csv; empty
// for one that has no place there.
std::string SettingName(const CLI::Option& option);

// Adds --config to a command, unless it has an option of that name.
void AddConfig(CLI::App* app);

// Parses the arguments of the command line (the program's name left out) with the settings of
// --config, if there is one, for all options that they do not name themselves. A setting before the
// first [section] is for the command that runs, whichever it is; those of a section [fit] are for
// 'fathom fit' alone. Throws what CLI11 throws, and Error naming file, line and key.
void ParseWithConfig(const std::vector<std::string>& arguments, CLI::App* program);

// The options of a command with the values that it ran with, defaults included, but for those that
// cannot change its result.
std::map<std::string, std::vector<std::string>> Settings(const CLI::App& app);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_CONFIG_H_
