#include "tests/support/places.h"

namespace fathom {

const char* ProgramPath() { return FATHOM_CLI_PATH; }

const char* FaultsLibrary() { return FATHOM_FAULTS_PATH; }

std::string SourceFile(const std::string& path) { return FATHOM_SOURCE_DIR "/" + path; }

}  // namespace fathom
