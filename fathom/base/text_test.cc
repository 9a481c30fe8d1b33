#include "fathom/base/text.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Text, NothingThatATerminalObeysIsVisible) {
  EXPECT_EQ(Visible("gr\u00fcn \u20ac"), "gr\u00fcn \u20ac");
  EXPECT_EQ(Visible("a\x1b[2Jb\nc\x7f"), "a?[2Jb?c?");
  EXPECT_EQ(Visible("a\u009bb\u0085"), "a?b?");
  for (const char* turned :
       {"\u202e", "\u202a", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c", "\u2028"})
    EXPECT_EQ(Visible(std::string("a") + turned + "b"), "a?b") << turned;
  EXPECT_EQ(Visible("\u2020\u2014\u2265"), "\u2020\u2014\u2265")
      << "neighbours of these are harmless";
  EXPECT_EQ(Visible("\xff z"), "? z");
  EXPECT_EQ(Quoted("a\u202eb"), "'a?b'");
}

}  // namespace
}  // namespace fathom
