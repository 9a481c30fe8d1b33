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
  return static_cast<double>(sys_days{first}.time_since_epoch().count());
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

void DateSpan::Add(double days) {
  if (std::isnan(days)) return;
  const std::array<double, 3> parts = {PartOfDate(DatePart::kDayOfYear, days, days),
                                       PartOfDate(DatePart::kWeekday, days, days),
                                       PartOfDate(DatePart::kHour, days, days)};
  if (first > last) seen_ = parts;
  for (std::size_t k = 0; k < parts.size(); ++k) varies[k] = varies[k] || parts[k] != seen_[k];
  first = std::min(first, days);
  last = std::max(last, days);
}

void DateSpan::Join(const DateSpan& other) {
  if (other.first > other.last) return;
  if (first > last) {
    *this = other;
    return;
  }
  for (std::size_t k = 0; k < varies.size(); ++k)
    varies[k] = varies[k] || other.varies[k] || seen_[k] != other.seen_[k];
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

void DateSpan::AppendNumbers(std::vector<double>* numbers) const {
  numbers->insert(numbers->end(), {first, last});
  for (std::size_t k = 0; k < varies.size(); ++k)
    numbers->insert(numbers->end(), {varies[k] ? 1.0 : 0.0, seen_[k]});
}

DateSpan DateSpan::TakeNumbers(const double** numbers) {
  DateSpan span;
  span.first = *(*numbers)++;
  span.last = *(*numbers)++;
  for (std::size_t k = 0; k < span.varies.size(); ++k) {
    span.varies[k] = *(*numbers)++ != 0;
    span.seen_[k] = *(*numbers)++;
  }
  return span;
}

std::vector<DatePart> UsefulParts(const DateSpan& span) {
  std::vector<DatePart> parts = {DatePart::kElapsed};
  if (!(span.last > span.first)) return parts;
  const bool years = Calendar(span.first).year() != Calendar(span.last).year();
  const double length = span.last - span.first;
  if (years && span.varies[0]) parts.push_back(DatePart::kDayOfYear);
  if (length > 7 && span.varies[1]) parts.push_back(DatePart::kWeekday);
  if (length > 1 && span.varies[2]) parts.push_back(DatePart::kHour);
  return parts;
}

std::vector<DatePart> UsefulParts(std::span<const double> days) {
  DateSpan span;
  for (const double day : days) span.Add(day);
  return UsefulParts(span);
}

}  // namespace fathom
