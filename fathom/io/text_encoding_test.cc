#include "fathom/io/text_encoding.h"

#include <gtest/gtest.h>

#include "fathom/base/random.h"
#include "fathom/base/text.h"

namespace fathom {
namespace {

using std::string_literals::operator""s;

TEST(TextEncoding, FindsUtf16ByItsMarkAndByItsZeros) {
  EXPECT_EQ(FindUtf16("\xff\xfex\0"s), Utf16::kLittleEndian);
  EXPECT_EQ(FindUtf16("\xfe\xff\0x"s), Utf16::kBigEndian);
  EXPECT_EQ(FindUtf16("x\0,\0y\0\n\0"s), Utf16::kLittleEndian);
  EXPECT_EQ(FindUtf16("\0x\0,\0y\0\n"s), Utf16::kBigEndian);
  EXPECT_EQ(FindUtf16("x,y\n1,2\n"), Utf16::kNone);
  EXPECT_EQ(FindUtf16("x,y\n1,2\0\n3,4\n"s), Utf16::kNone);
  EXPECT_EQ(FindUtf16(""), Utf16::kNone);
}

TEST(TextEncoding, TurnsUtf16IntoUtf8) {
  EXPECT_EQ(Utf16ToUtf8("\xff\xfe\xe9\0x\0"s, Utf16::kLittleEndian), "\xc3\xa9x");
  EXPECT_EQ(Utf16ToUtf8("\0\xe9\0x"s, Utf16::kBigEndian), "\xc3\xa9x");
  EXPECT_EQ(Utf16ToUtf8("\xac\x20"s, Utf16::kLittleEndian), "\xe2\x82\xac");              // euro
  EXPECT_EQ(Utf16ToUtf8("\x3d\xd8\x00\xde"s, Utf16::kLittleEndian), "\xf0\x9f\x98\x80");  // a pair
  EXPECT_EQ(Utf16ToUtf8("\x3d\xd8x\0"s, Utf16::kLittleEndian), "\xef\xbf\xbdx");  // half a pair
  EXPECT_EQ(Utf16ToUtf8("x\0y"s, Utf16::kLittleEndian), "x\xef\xbf\xbd");
}

TEST(TextEncoding, ReadsWhatIsNotUtf8AsWindows1252) {
  EXPECT_EQ(ToUtf8("gr\xc3\xbcn"), "gr\xc3\xbcn");
  EXPECT_EQ(ToUtf8("gr\xfcn"), "gr\xc3\xbcn");
  EXPECT_EQ(ToUtf8("\x80 5"), "\xe2\x82\xac 5");
}

TEST(TextEncoding, AnyBytesBecomeUtf8) {
  RandomStream stream(1);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (int i = 0; i < 20; ++i) bytes += static_cast<char>(stream.Below(256));
    EXPECT_TRUE(IsUtf8(ToUtf8(bytes)));
    EXPECT_TRUE(IsUtf8(Utf16ToUtf8(bytes, Utf16::kBigEndian)));
    EXPECT_TRUE(IsUtf8(Utf16ToUtf8(bytes, Utf16::kLittleEndian)));
  }
}

}  // namespace
}  // namespace fathom
