// Everything that users hand to the program and that it cannot take, or takes with a note: the one
// list behind tests/bad_inputs_cli_test.cc and docs/reference/errors.md.
#ifndef FATHOM_TESTS_SUPPORT_BAD_INPUTS_H_
#define FATHOM_TESTS_SUPPORT_BAD_INPUTS_H_

#include "tests/support/bad_commands.h"
#include "tests/support/bad_tables.h"

namespace fathom {

inline std::vector<BadInputSection> ListBadInputs() {
  return {BadFiles(),   BadCells(),  BadColumns(), TakenWithANote(), BadRowsForModel(),
          BadOptions(), BadModels(), BadOutputs(), BadStudies()};
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_BAD_INPUTS_H_
