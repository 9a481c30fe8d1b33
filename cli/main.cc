// The program `fathom`: parses, calls the library, prints. Every failure is one line on standard
// error and an exit code.
#include <csignal>
#include <new>

#include "cli/common.h"
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

// A first word that is no command is the likeliest slip, and CLI11 would only say that a command is
// missing.
void CheckFirstWord(int argc, char** argv, const std::vector<Command>& commands) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string known;
  for (const Command& command : commands) {
    if (command.app->get_name() == argv[1]) return;
    known += (known.empty() ? "" : ", ") + command.app->get_name();
  }
  ThrowError("there is no command ", Quoted(argv[1]), "; the commands are ", known,
             " (see 'fathom --help')");
}

int Run(int argc, char** argv) {
  CLI::App program(kAbout, "fathom");
  program.set_version_flag("--version", "fathom " FATHOM_VERSION, "Print the version");
  program.set_help_flag("-h,--help", "Print this help");
  program.footer(kExample);
  program.require_subcommand(1);
  const std::vector<Command> commands = {AddFit(&program), AddPredict(&program),
                                         AddEvaluate(&program), AddDemo(&program)};
  CheckFirstWord(argc, argv, commands);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> asked = program.get_subcommands();
    WriteOut((asked.empty() ? &program : asked.front())->help());
    return kGood;
  } catch (const CLI::CallForVersion& version) {
    WriteOut(std::string(version.what()) + "\n");
    return kGood;
  } catch (const CLI::ParseError& error) {
    const std::vector<CLI::App*> asked = program.get_subcommands();
    ThrowError(error.what(), " (see 'fathom ", asked.empty() ? "" : asked.front()->get_name() + " ",
               "--help')");
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
  return fathom::cli::RunAndExplain(argc, argv);
}
