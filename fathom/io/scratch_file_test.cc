#include "fathom/io/scratch_file.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/test_folder.h"

namespace fathom {
namespace {

// Longer than the parts that memory grows by, and no multiple of them.
std::string LongText() {
  std::string text;
  for (int n = 0; text.size() < 2'500'000; ++n) text += std::to_string(n) + ",";
  return text;
}

void ExpectHolds(ScratchFile file) {
  const std::string text = LongText();
  file.Write("what is void");
  file.Clear();
  EXPECT_EQ(file.size(), 0U);
  constexpr std::size_t kAtATime = 300'007;
  for (std::size_t i = 0; i < text.size(); i += kAtATime) file.Write(text.substr(i, kAtATime));
  EXPECT_EQ(file.size(), text.size());
  const ScratchFile moved = std::move(file);
  for (const std::size_t begin : {std::size_t{0}, std::size_t{1'048'570}, text.size() - 5}) {
    std::string read(std::min<std::size_t>(1'100'000, text.size() - begin), '\0');
    moved.Read(begin, read.data(), read.size());
    EXPECT_TRUE(read == text.substr(begin, read.size())) << begin;
  }
}

TEST(ScratchFile, HoldsWhatWasWritten) {
  const TestFolder folder;
  ExpectHolds(ScratchFile(folder.Path(""), "text"));
}

TEST(ScratchFile, HoldsTheSameInMemory) { ExpectHolds(ScratchFile::InMemory()); }

}  // namespace
}  // namespace fathom
