#include "fathom/data/date_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fathom/data/written_date.h"

namespace fathom {
namespace {

using testing::ElementsAre;

double Day(const char* text) {
  double days = 0;
  EXPECT_TRUE(internal::ReadWrittenDate(text, false, &days)) << text;
  return days;
}

TEST(DateParts, ArePartsOfTheDate) {
  const double first = Day("2024-01-01");
  EXPECT_EQ(PartOfDate(DatePart::kElapsed, Day("2024-03-01"), first), 60);
  EXPECT_EQ(PartOfDate(DatePart::kDayOfYear, Day("2024-03-01"), first), 61);
  EXPECT_EQ(PartOfDate(DatePart::kWeekday, Day("2024-01-01"), first), 1);  // a Monday
  EXPECT_EQ(PartOfDate(DatePart::kWeekday, Day("1969-12-28"), first), 7);  // a Sunday
  EXPECT_NEAR(PartOfDate(DatePart::kHour, Day("2024-03-01 14:30"), first), 14.5, 1e-6);
}

TEST(DateParts, OnlyUsefulOnesAreTaken) {
  const double nan = std::nan("");
  EXPECT_THAT(UsefulParts(std::vector{Day("2024-01-01"), nan, Day("2024-01-03")}),
              ElementsAre(DatePart::kElapsed));
  EXPECT_THAT(UsefulParts(std::vector{Day("2024-01-01"), Day("2024-02-03")}),
              ElementsAre(DatePart::kElapsed, DatePart::kWeekday));
  EXPECT_THAT(UsefulParts(std::vector{Day("2024-01-01"), Day("2024-01-08"), Day("2024-01-15")}),
              ElementsAre(DatePart::kElapsed));  // all Mondays
  EXPECT_THAT(
      UsefulParts(std::vector{Day("2023-01-01"), Day("2024-02-03 12:00")}),
      ElementsAre(DatePart::kElapsed, DatePart::kDayOfYear, DatePart::kWeekday, DatePart::kHour));
  EXPECT_THAT(UsefulParts(std::vector{Day("2024-01-01 10:00"), Day("2024-01-01 12:00")}),
              ElementsAre(DatePart::kElapsed));
}

}  // namespace
}  // namespace fathom
