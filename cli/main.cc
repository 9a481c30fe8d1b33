// The program `fathom`: parses, calls the library, prints. Every failure is one line on standard
// error and an exit code.
#include <csignal>
#include <new>

#include "cli/common.h"
#include "cli/config.h"
#include "fathom/base/error.h"
#include "fathom/data/text.h"

namespace fathom::cli {

namespace {

constexpr const char* kAbout =
    "Deep Gaussian processes: a table in, predictions with honest uncertainty out.";
constexpr const char* kExample =
    "Example:\n"
    "  fathom fit train.csv --target price -o price.fathom\n"
    "  fathom evaluate price.fathom test.csv\n"
    "  fathom predict price.fathom new.csv > predictions.csv\n\n"
    "'fathom COMMAND --help' explains a command. Exit codes: 0 good, 2 bad input, 3 numerical "
    "failure.";

std::string Names(const std::vector<Command>& commands) {
  std::string names;
  for (const Command& command : commands)
    names += (names.empty() ? "" : ", ") + command.app->get_name();
  return names;
}

// CLI11 would only say that a subcommand is missing.
void CheckFirstWord(int argc, char** argv, const std::vector<Command>& commands) {
  if (argc < 2) ThrowError("name a command: ", Names(commands), " (see 'fathom --help')");
  if (argv[1][0] == '-') return;
  for (const Command& command : commands) {
    if (command.app->get_name() == argv[1]) return;
  }
  ThrowError("there is no command ", Quoted(argv[1]), "; the commands are ", Names(commands),
             " (see 'fathom --help')");
}

// What is wrong with the options, better told than CLI11 does where it only lists what is left.
std::string Explain(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
  const std::vector<std::string> left = app.remaining(true);
  for (const std::string& word : left) {
    if (word.starts_with('-') && word.size() > 1) return "there is no option " + Quoted(word);
  }
  return left.empty() ? error.what() : "there is one argument too many: " + Quoted(left.front());
}

int Run(int argc, char** argv) {
  CLI::App program(kAbout, "fathom");
  program.set_version_flag("--version", "fathom " FATHOM_VERSION, "Print the version");
  program.set_help_flag("-h,--help", "Print this help");
  program.footer(kExample);
  program.require_subcommand(1);
  program.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  const std::vector<Command> commands = {
      AddFit(&program),        AddResume(&program),  AddPredict(&program), AddEvaluate(&program),
      AddCv(&program),         AddInspect(&program), AddExport(&program),  AddDemo(&program),
      AddCompletion(&program), AddMan(&program)};
  for (const Command& command : commands) AddConfig(command.app);
  CheckFirstWord(argc, argv, commands);
  const auto asked = [&] {
    const std::vector<CLI::App*> found = program.get_subcommands();
    return found.empty() ? &program : found.front();
  };
  try {
    ParseWithConfig({argv + 1, argv + argc}, &program);
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

int RunAndExplain(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const ClosedPipe&) {
    return kGood;
  } catch (const Error& error) {
    Complain(error.what());
    return kBadInput;
  } catch (const NumericalError& error) {
    Complain(error.what());
    return kNumerical;
  } catch (const std::bad_alloc&) {
    Complain("there is not enough memory for this");
    return kInternal;
  } catch (const std::exception& error) {
    Complain(std::string("internal error: ") + error.what());
    return kInternal;
  }
}

}  // namespace

}  // namespace fathom::cli

int main(int argc, char** argv) {
  // A closed pipe then shows as a failed write, which WriteOut turns into a quiet end.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a limit on the size of files.
  std::signal(SIGXFSZ, SIG_IGN);
  return fathom::cli::RunAndExplain(argc, argv);
}
