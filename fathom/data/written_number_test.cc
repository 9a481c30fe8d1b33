#include "fathom/data/written_number.h"

#include <gtest/gtest.h>

namespace fathom::internal {
namespace {

struct Case {
  const char* text;
  char decimal;
  double value;
  const char* affix = "";
};

TEST(WrittenNumber, ReadsWhatPeopleWrite) {
  for (const Case& c : {Case{"1,5", ',', 1.5},
                        {"1.234,5", ',', 1234.5},
                        {"1.234.567", ',', 1234567},
                        {"1,234.5", '.', 1234.5},
                        {"1,234,567", '.', 1234567},
                        {"1 234 567,25", ',', 1234567.25},
                        {"1\u00a0234", '.', 1234},
                        {"1\u202f234,5", ',', 1234.5},
                        {"1'234.50", '.', 1234.5},
                        {"1\u2019234", '.', 1234},
                        {"\u22125", '.', -5},
                        {"(5)", '.', -5},
                        {"($1,200.00)", '.', -1200, "$"},
                        {"(5 %)", '.', -5, "%"},
                        {"12%", '.', 12, "%"},
                        {"12,5 %", ',', 12.5, "%"},
                        {"$5", '.', 5, "$"},
                        {"-$5", '.', -5, "$"},
                        {"$-5", '.', -5, "$"},
                        {"5 \u20ac", '.', 5, "\u20ac"},
                        {"5 \x80", '.', 5, "\u20ac"},  // Windows-1252
                        {"EUR 5,00", ',', 5, "EUR"},
                        {"3 kg", '.', 3, "kg"},
                        {"3kg", '.', 3, "kg"},
                        {"20.5 \u00b0C", '.', 20.5, "\u00b0C"},
                        {"7 km/h", '.', 7, "km/h"},
                        {"1 234 kg", '.', 1234, "kg"},
                        {".5", '.', 0.5},
                        {"5.", '.', 5},
                        {"1,5e3", ',', 1500},
                        {"2e-3 m", '.', 0.002, "m"},
                        {"+4", '.', 4}}) {
    WrittenNumber number;
    ASSERT_TRUE(ReadWrittenNumber(c.text, c.decimal, &number)) << c.text;
    EXPECT_DOUBLE_EQ(number.value, c.value) << c.text;
    EXPECT_EQ(number.affix, c.affix) << c.text;
  }
}

TEST(WrittenNumber, RefusesWhatIsNoNumber) {
  for (const char* text : {"",
                           " ",
                           "kg",
                           "$",
                           "-",
                           "--5",
                           "(5",
                           "5)",
                           "(-5)",
                           "1-2",
                           "1/2",
                           "12:30",
                           "2024-05-31",
                           "1 2",
                           "1,23",
                           "1,2345",
                           "12,34,567",
                           "1.2.3",
                           "#5",
                           "5 ; 6",
                           "e5",
                           "1e999",
                           "5 a unit that is too long",
                           "$5 kg",
                           "()",
                           "+",
                           ".",
                           "+-5"}) {
    WrittenNumber number;
    EXPECT_FALSE(ReadWrittenNumber(text, '.', &number)) << text;
  }
}

}  // namespace
}  // namespace fathom::internal
