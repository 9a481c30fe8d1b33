// The program `fathom`: parses, calls the library, prints. Every failure is one line on standard
// error and an exit code.
#include <fcntl.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>

#include "bnn/expert.h"
#include "cli/common.h"
#include "cli/config.h"
#include "cli/ranks.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/version.h"

namespace fathom::cli {

namespace {

constexpr const char* kAbout =
    "Deep Gaussian processes: a table in, predictions with honest uncertainty out.";
constexpr const char* kProgramExample =
    "Example:\n"
    "  fathom fit train.csv --target price -o price.fathom\n"
    "  fathom evaluate price.fathom test.csv\n"
    "  fathom predict price.fathom new.csv > predictions.csv\n\n"
    "'fathom COMMAND --help' explains a command. Exit codes: 0 good, 2 bad input, 3 numerical "
    "failure.";

// CLI11 would only say that a subcommand is missing.
void CheckFirstWord(int argc, char** argv, const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.app->get_name());
  if (argc < 2) ThrowError("name a command: ", QuotedList(names), " (see 'fathom --help')");
  const std::string_view first = argv[1];
  if (first.starts_with('-')) {
    constexpr std::string_view kGlobal[] = {"-h", "--help", "-v", "--version"};
    if (std::count(std::begin(kGlobal), std::end(kGlobal), first) > 0) return;
    ThrowError("before the command there is no option ", Quoted(first),
               "; the command comes first: 'fathom COMMAND ...' (see 'fathom --help')");
  }
  if (std::count(names.begin(), names.end(), argv[1]) > 0) return;
  ThrowError("there is no command ", Quoted(argv[1]), DidYouMean(argv[1], names),
             " the commands are ", QuotedList(names), " (see 'fathom --help')");
}

// `word` begins with a dash, but is no option of `app`.
std::string ExplainUnknown(const std::string& word, const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string name = word.substr(0, word.find('='));
  const std::string guess = DidYouMean(name, names);
  return "there is no option " + Quoted(name) + (guess == ";" ? "" : guess);
}

// A value is not of its option's type. That type is a number, because any text is a good string.
std::string ExplainConversion(const CLI::ParseError& error, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->empty()) continue;
    // "Could not convert: --steps = 3,1.5", with all values of an option of which the last counts.
    if (std::string(error.what()).find(" " + option->get_name() + " = ") == std::string::npos)
      continue;
    const std::string& value = option->results().back();
    double number = 0;
    return option->get_name() + ": " + Quoted(value) +
           (CLI::detail::lexical_cast(value, number) ? " is not a whole number, or too large"
                                                     : " is not a number");
  }
  return error.what();
}

// Says what is wrong with the options, where CLI11 would only list what is left over.
std::string Explain(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    return ExplainConversion(error, app);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
  const std::vector<std::string> left = app.remaining(true);
  for (const std::string& word : left) {
    if (word.starts_with('-') && word.size() > 1) return ExplainUnknown(word, app);
  }
  if (left.empty()) return error.what();
  std::string message = "there is one argument too many: " + Quoted(left.front());
  // The shell made a list of files from a pattern.
  if (!std::filesystem::is_regular_file(left.front())) return message;
  return message + "; several files are one table if their pattern is in quotes, as 'part-*.csv'";
}

// Options in quotes, as --compare takes them, are one value: a blank before it keeps CLI11 from
// taking '--hidden 0' for the name of an option.
std::vector<std::string> WithQuotedOptions(std::vector<std::string> arguments) {
  for (std::string& word : arguments) {
    if (word.starts_with("--") && word.find(' ') < word.find('=')) word.insert(0, " ");
  }
  return arguments;
}

int Run(int argc, char** argv) {
  bnn::RegisterNetworkExpert();
  CLI::App program(kAbout, "fathom");
  program.set_version_flag("-v,--version", "fathom " FATHOM_VERSION, "Print the version");
  program.set_help_flag("-h,--help", "Print this help");
  program.footer(kProgramExample);
  program.require_subcommand(1);
  program.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  const std::vector<Command> commands = {
      AddFit(&program),    AddResume(&program),     AddPredict(&program), AddEvaluate(&program),
      AddReport(&program), AddCv(&program),         AddInspect(&program), AddExport(&program),
      AddDemo(&program),   AddBench(&program),      AddTables(&program),  AddBaseline(&program),
      AddRecipe(&program), AddCompletion(&program), AddMan(&program)};
  for (const Command& command : commands) AddConfig(command.app);
  CheckFirstWord(argc, argv, commands);
  const auto asked = [&] {
    const std::vector<CLI::App*> found = program.get_subcommands();
    return found.empty() ? &program : found.front();
  };
  try {
    ParseWithConfig(WithQuotedOptions({argv + 1, argv + argc}), &program);
  } catch (const CLI::CallForHelp&) {
    WriteOut(asked()->help(asked() == &program ? "" : "fathom"));
    return kGood;
  } catch (const CLI::CallForVersion& version) {
    WriteOut(std::string(version.what()) + "\n");
    return kGood;
  } catch (const CLI::ParseError& error) {
    ThrowError(Explain(error, *asked()), " (see 'fathom ",
               asked() == &program ? "" : asked()->get_name() + " ", "--help')");
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  throw InternalError("no command was parsed");
}

// If standard output is closed, the next file that we open would take its place. So we open
// something there that can only be read, and writing to it fails as it should.
void FillClosedStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const int null = ::open("/dev/null", O_RDONLY);
    if (null < 0) std::_Exit(kBadInput);
  }
}

// Tables are mapped into memory: reading what is no longer in the file raises this signal.
void ExplainLostFile(int /*signal*/) {
  constexpr std::string_view kMessage =
      "fathom: a file became shorter while it was read; try again when nothing writes to it\n";
  static_cast<void>(::write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0);
  std::_Exit(kBadInput);
}

// What the exception that is being handled says to the user, if anything; returns the exit code.
int ExplainException(std::string* message) {
  try {
    throw;
  } catch (const ClosedPipe&) {
    return kGood;
  } catch (const Error& error) {
    *message = WithOptions(error);
    return kBadInput;
  } catch (const NumericalError& error) {
    *message = error.what();
    return kNumerical;
  } catch (const std::bad_alloc&) {
    *message = "there is not enough memory for this";
    return kInternal;
  } catch (const std::exception& error) {
    *message = std::string("internal error: ") + error.what();
    return kInternal;
  }
}

}  // namespace

}  // namespace fathom::cli

namespace {

// CLI11 looks options up in functions that are noexcept but allocate, so that a lack of memory ends
// here and not in RunAndExplain.
[[noreturn]] void ExplainTheEnd() {
  constexpr std::string_view kLine = "fathom: there is not enough memory for this\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
  std::_Exit(fathom::cli::kInternal);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(ExplainTheEnd);
  fathom::cli::FillClosedStreams();
  std::signal(SIGBUS, fathom::cli::ExplainLostFile);
  // A closed pipe then shows as a failed write, which WriteOut turns into a quiet end.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a limit on the size of files.
  std::signal(SIGXFSZ, SIG_IGN);
  return fathom::cli::RunOnRanks([&] { return fathom::cli::Run(argc, argv); },
                                 fathom::cli::ExplainException);
}
