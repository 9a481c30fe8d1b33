// Where the tests find what was built and the files of the repository. places.cc alone is told the
// paths, so that a compiler cache serves all other files in any folder.
#ifndef FATHOM_TESTS_SUPPORT_PLACES_H_
#define FATHOM_TESTS_SUPPORT_PLACES_H_

#include <string>

namespace fathom {

// Empty if it was not built.
const char* ProgramPath();
const char* FaultsLibrary();

// SourceFile("docs/index.md") is that file of the repository.
std::string SourceFile(const std::string& path);

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_PLACES_H_
