// Compares the engine with the reference vectors: numbers written for this project by an
// independent implementation. Each file explains itself in its "description".
#ifndef FATHOM_TESTS_REFERENCE_CHECK_H_
#define FATHOM_TESTS_REFERENCE_CHECK_H_

#include <string>
#include <vector>

namespace fathom {

struct ReferenceResult {
  std::string file;
  int passed = 0;                        // cases
  std::vector<std::string> failures;     // "case: what differs and by how much"
  std::vector<std::string> unsupported;  // "case: what is missing"
};

// All *.json files of a folder, in order of their names. A case may hold only some of the expected
// numbers of its kind. A file, a kind or an expected number that is not known is a failure, as is a
// case without any; a case that is known but not yet supported is named as such.
std::vector<ReferenceResult> CheckReferences(const std::string& folder);

// FATHOM_REFERENCE_DIR, or the project's own copy.
std::string ReferenceFolder();
std::string OwnReferenceFolder();  // the project's own copy
std::string OwnBnnFolder();        // that of the Bayesian neural networks

}  // namespace fathom

#endif  // FATHOM_TESTS_REFERENCE_CHECK_H_
