// What the subcommands have in common: exit codes, output that knows about closed pipes, and the
// reading of option values.
#ifndef FATHOM_CLI_COMMON_H_
#define FATHOM_CLI_COMMON_H_

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli11_fwd.h"
#include "fathom/base/error.h"
#include "fathom/base/option_text.h"
#include "fathom/data/table.h"
#include "fathom/fitted/model.h"

namespace fathom::cli {

inline constexpr int kGood = 0;
inline constexpr int kInternal = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kNumerical = 3;

// One subcommand: what CLI11 parses and what then runs; `run` returns the exit code.
struct Command {
  CLI::App* app;
  std::function<int()> run;
};

Command AddFit(CLI::App* program);
Command AddResume(CLI::App* program);
Command AddPredict(CLI::App* program);
Command AddEvaluate(CLI::App* program);
Command AddReport(CLI::App* program);
Command AddCv(CLI::App* program);
Command AddInspect(CLI::App* program);
Command AddExport(CLI::App* program);
Command AddRecipe(CLI::App* program);
Command AddDemo(CLI::App* program);
Command AddBench(CLI::App* program);
Command AddTables(CLI::App* program);
Command AddBaseline(CLI::App* program);
Command AddCompletion(CLI::App* program);
Command AddMan(CLI::App* program);

// The reader of standard output has gone away. That is no error, and nobody is left to tell.
struct ClosedPipe : std::exception {};

// Writes all of `text` to standard output at once. Throws ClosedPipe, or Error if it cannot be
// written.
void WriteOut(std::string_view text);
// "fathom: <message>" on standard error, on one line whatever the message holds.
void Complain(const std::string& message);

// Values of an option; Error names the option and the value.
std::vector<Index> ParseCounts(const char* option, const std::string& text);
std::vector<double> ParseProbabilities(const char* option, const std::string& text);
std::string JoinCounts(const std::vector<Index>& counts);

// What the error says; where the library names a role of a column, its option instead.
std::string WithOptions(const Error& error);

// Checks of option values; unlike CLI11's own they leave no trace in the help.
CLI::Validator InRange(Index low, Index high);
CLI::Validator OneOf(const std::vector<std::string>& words);

// Throws Error unless a file can be made (or replaced) at `path`, and if that would overwrite one
// of `inputs`. Leaves everything as it was.
void CheckOutput(const std::string& path, const std::vector<std::string>& inputs);

// Common options, with the same words everywhere.
CLI::Option* AddSeed(CLI::App* app, std::uint64_t* seed, const char* what);
void AddThreads(CLI::App* app, int* threads);
void AddSamples(CLI::App* app, Index* samples, std::uint64_t* seed);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_COMMON_H_
