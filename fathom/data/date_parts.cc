#include "fathom/data/date_parts.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace fathom {
namespace {

std::chrono::year_month_day Calendar(double days) {
  using std::chrono::sys_days;
  // The calendar of <chrono> ends at the year 32767; a date from a file has at most four digits.
  const double whole = std::clamp(std::floor(days), -1e7, 1e7);
  return sys_days(std::chrono::days(static_cast<int>(whole)));
}

double FirstOfYear(double days) {
  using std::chrono::sys_days;
  const std::chrono::year_month_day first{Calendar(days).year(), std::chrono::January,
                                          std::chrono::day(1)};
  return static_cast<double>(sys_days(first).time_since_epoch().count());
}

}  // namespace

double PartOfDate(DatePart part, double days, double first) {
  switch (part) {
    case DatePart::kElapsed:
      return days - first;
    case DatePart::kDayOfYear:
      return std::floor(days) - FirstOfYear(days) + 1;
    case DatePart::kWeekday:  // 1970-01-01 was a Thursday
      return std::fmod(std::fmod(std::floor(days) + 3, 7) + 7, 7) + 1;
    case DatePart::kHour:
      return 24 * (days - std::floor(days));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<DatePart> UsefulParts(std::span<const double> days) {
  double first = HUGE_VAL, last = -HUGE_VAL;
  for (const double day : days) {
    if (std::isnan(day)) continue;
    first = std::min(first, day);
    last = std::max(last, day);
  }
  const auto varies = [&](DatePart part) {
    const double value = PartOfDate(part, first, first);
    return std::any_of(days.begin(), days.end(), [&](double day) {
      return !std::isnan(day) && PartOfDate(part, day, first) != value;
    });
  };
  std::vector<DatePart> parts = {DatePart::kElapsed};
  if (!(last > first)) return parts;
  const bool years = Calendar(first).year() != Calendar(last).year();
  if (years && varies(DatePart::kDayOfYear)) parts.push_back(DatePart::kDayOfYear);
  if (last - first > 7 && varies(DatePart::kWeekday)) parts.push_back(DatePart::kWeekday);
  if (last - first > 1 && varies(DatePart::kHour)) parts.push_back(DatePart::kHour);
  return parts;
}

}  // namespace fathom
