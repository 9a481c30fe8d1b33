#include "tests/reference_check.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Reference, EveryVectorIsReproduced) {
  const std::vector<ReferenceResult> results = CheckReferences(ReferenceFolder());
  ASSERT_FALSE(results.empty()) << "no reference files in " << ReferenceFolder();
  int passed = 0;
  for (const ReferenceResult& result : results) {
    passed += result.passed;
    for (const std::string& failure : result.failures)
      ADD_FAILURE() << result.file << ": " << failure;
  }
  EXPECT_GT(passed, 0);
}

}  // namespace
}  // namespace fathom
