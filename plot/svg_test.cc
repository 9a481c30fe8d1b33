#include "plot/svg.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fathom/base/error.h"
#include "tests/support/xml_check.h"

namespace fathom {
namespace {

TEST(EscapeXml, EscapesMarkupAndKeepsTheRest) {
  EXPECT_EQ(EscapeXml("a < b & \"c\" > d"), "a &lt; b &amp; &quot;c&quot; &gt; d");
  EXPECT_EQ(EscapeXml("σ² ≤ 1 \U0001F697"), "σ² ≤ 1 \U0001F697");
}

TEST(EscapeXml, ReplacesWhatXmlCannotHold) {
  EXPECT_EQ(EscapeXml(std::string("a\0b\x1b", 4)), "a\uFFFDb\uFFFD");
  EXPECT_EQ(EscapeXml("\xc3("), "\uFFFD(");                                  // cut short
  EXPECT_EQ(EscapeXml("\xc0\xaf"), "\uFFFD\uFFFD");                          // overlong
  EXPECT_EQ(EscapeXml("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");                // surrogate
  EXPECT_EQ(EscapeXml("\xf4\x90\x80\x80").find('\xf4'), std::string::npos);  // beyond Unicode
}

RC_GTEST_PROP(SvgWriter, AnyTextGivesWellFormedXml, (const std::string& text)) {
  SvgWriter svg(10, 10);
  svg.Title(text);
  svg.Text(text, {{"x", 1}, {"class", text}});
  RC_ASSERT(WhatIsWrongWithXml(std::move(svg).Finish()) == "");
}

TEST(SvgWriter, WritesShortNumbersAndClosesEverything) {
  SvgWriter svg(100, 50.5);
  svg.Open("g", {{"id", "a"}});
  svg.Leaf("rect", {{"x", 1.23456}, {"width", 20}});
  const std::string text = std::move(svg).Finish();
  EXPECT_NE(text.find("<rect x=\"1.23\" width=\"20\"/>"), std::string::npos);
  EXPECT_NE(text.find("viewBox=\"0 0 100 50.5\""), std::string::npos);
  EXPECT_NE(text.find("</g>\n</svg>\n"), std::string::npos);
}

TEST(SvgWriter, ClosingTooMuchIsABug) {
  SvgWriter svg(10, 10);
  svg.Close();
  EXPECT_THROW(svg.Close(), InternalError);
}

TEST(XmlCheck, FindsFaults) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  EXPECT_EQ(WhatIsWrongWithXml(head + "<svg><g a=\"1\"/>x &amp; y</svg>"), "");
  for (const char* bad :
       {"", "<svg>", "<svg></g>", "<svg/><svg></svg>", "<svg>a & b</svg>", "<svg a=1></svg>",
        "<svg a=\"&\"></svg>", "<svg></svg><svg></svg>", R"(<svg a="1" a="2"/>)"}) {
    EXPECT_NE(WhatIsWrongWithXml(head + bad), "") << bad;
  }
}

}  // namespace
}  // namespace fathom
