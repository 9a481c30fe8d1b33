#include "fathom/base/memory.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Memory, Text) {
  EXPECT_EQ(MemoryText(512), "512 bytes");
  EXPECT_EQ(MemoryText(1.5e9), "1.5 GB");
  EXPECT_GT(AvailableMemory(), 1e6);
}

}  // namespace
}  // namespace fathom
