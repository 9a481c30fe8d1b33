// Prints a line per reference file and last "N passed, N failed". Cases that the engine does not
// support yet are named and counted as neither.
#include <cstdio>
#include <exception>

#include "tests/reference_check.h"

int main() {
  try {
    int passed = 0;
    int failed = 0;
    for (const fathom::ReferenceResult& result :
         fathom::CheckReferences(fathom::ReferenceFolder())) {
      const bool bad = !result.failures.empty();
      const bool good = !bad && result.passed > 0;
      std::printf("%-15s %s: %d passed",
                  bad    ? "FAILED"
                  : good ? "passed"
                         : "not supported",
                  result.file.c_str(), result.passed);
      for (const std::string& text : result.failures) std::printf("; failed %s", text.c_str());
      for (const std::string& text : result.unsupported)
        std::printf("; not yet supported %s", text.c_str());
      std::printf("\n");
      passed += good ? 1 : 0;
      failed += bad ? 1 : 0;
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
