// CLI11 by name only: a file that includes all of it compiles four seconds longer.
#ifndef FATHOM_CLI_CLI11_FWD_H_
#define FATHOM_CLI_CLI11_FWD_H_

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

#endif  // FATHOM_CLI_CLI11_FWD_H_
