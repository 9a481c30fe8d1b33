#include "fathom/data/written_date.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom::internal {
namespace {

TEST(WrittenDate, ReadsWhatTablesHold) {
  struct Case {
    const char *text, *meaning;
    bool day_first = false;
  };
  for (const Case& c : {Case{"2024-05-31", "2024-05-31"},
                        {"2024/5/31", "2024-05-31"},
                        {"2024-05", "2024-05-01"},
                        {"2024-05-31T14:30", "2024-05-31 14:30"},
                        {"2024-05-31 14:30:00", "2024-05-31 14:30"},
                        {"2024-05-31T14:30:00Z", "2024-05-31 14:30"},
                        {"2024-05-31T14:30:00+02:00", "2024-05-31 12:30"},
                        {"2024-05-31T14:30:00.000-0030", "2024-05-31 15:00"},
                        {"31.5.2024", "2024-05-31", true},
                        {"31.05.24", "2024-05-31", true},
                        {"5/31/2024", "2024-05-31"},
                        {"5/31/24 2:30 PM", "2024-05-31 14:30"},
                        {"1/2/1970", "1970-01-02"},
                        {"1/2/1970", "1970-02-01", true},
                        {"31-May-2024", "2024-05-31"},
                        {"31 May 2024", "2024-05-31"},
                        {"May 31, 2024", "2024-05-31"},
                        {"March 1, 2024", "2024-03-01"},
                        {"Sept 1 2024", "2024-09-01"},
                        {"Fri, 31 May 2024", "2024-05-31"},
                        {"Jan-01", "2001-01-01"},
                        {"Jan-99", "1999-01-01"},
                        {"May 2024", "2024-05-01"},
                        {"2-Jan", "2000-01-02"},
                        {"2024-Q2", "2024-04-01"},
                        {"2024Q4", "2024-10-01"},
                        {"1969-12-31", "1969-12-31"}}) {
    double days = std::nan("");
    ASSERT_TRUE(ReadWrittenDate(c.text, c.day_first, &days)) << c.text;
    EXPECT_EQ(DateText(days + 1e-7), c.meaning) << c.text;
  }
}

TEST(WrittenDate, RefusesWhatIsNone) {
  double days = 0;
  for (const char* text :
       {"",          "2024",        "5",         "2024-13",     "2024-02-30",
        "31/5/2024", "1.2.3",       "1-2",       "10-20",       "2024.05",
        "May",       "MayNot 3",    "1.2.3.4",   "2024-05-31x", "2024-05-31 25:00",
        "12:30",     "2024-05-31T", "31 2 2024", "555-1234",    "2024-05-31 10:00 CET",
        "monday"}) {
    EXPECT_FALSE(ReadWrittenDate(text, false, &days)) << text;
  }
}

TEST(WrittenDate, ReadsTimes) {
  double hours = 0;
  for (const auto& [text, expected] : {std::pair{"14:30", 14.5},
                                       {"2:30 PM", 14.5},
                                       {"12:00 am", 0.0},
                                       {"36:15", 36.25},
                                       {"0:00:09", 0.0025},
                                       {"1:00:00.9", 1.00025}}) {
    ASSERT_TRUE(ReadWrittenTime(text, &hours)) << text;
    EXPECT_NEAR(hours, expected, 1e-12) << text;
  }
  for (const char* text : {"", "14", "14:3", "14:60", "13:00 pm", "14:30 x", "1:2:3", "1:30-"})
    EXPECT_FALSE(ReadWrittenTime(text, &hours)) << text;
}

}  // namespace
}  // namespace fathom::internal
