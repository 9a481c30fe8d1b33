// The numbers that a model sees of a date.
#ifndef FATHOM_DATA_DATE_PARTS_H_
#define FATHOM_DATA_DATE_PARTS_H_

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "fathom/base/enum_names.h"
#include "fathom/base/export.h"

namespace fathom FATHOM_PUBLIC {

enum class DatePart {
  kElapsed,    // days since the first date of the training table
  kDayOfYear,  // from 1 on
  kWeekday,    // 1 is Monday
  kHour,       // of the day, with its fraction
};

constexpr auto NamesOf(DatePart) {
  return std::to_array<EnumName<DatePart>>({{DatePart::kElapsed, "days"},
                                            {DatePart::kDayOfYear, "day of year"},
                                            {DatePart::kWeekday, "weekday"},
                                            {DatePart::kHour, "hour"}});
}

// A date in days since 1970-01-01, and the first one of the training table.
double PartOfDate(DatePart part, double days, double first);

// What is known of the dates of a column, whatever their number.
struct DateSpan {
  double first = HUGE_VAL, last = -HUGE_VAL;
  // Whether the part is not the same in all dates: of kDayOfYear, kWeekday and kHour.
  std::array<bool, 3> varies = {};

  void Add(double days);  // NaN is missing
  void Join(const DateSpan& other);
  // As JoinFacts wants them.
  void AppendNumbers(std::vector<double>* numbers) const;
  static DateSpan TakeNumbers(const double** numbers);

 private:
  std::array<double, 3> seen_ = {};
};

// The parts that say something beside the elapsed time: the day of the year if the dates lie in
// more than one, the weekday if they span more than a week, the hour if they span more than a day,
// and each only if it varies. The elapsed time comes first, always. NaN are missing.
std::vector<DatePart> UsefulParts(const DateSpan& span);
std::vector<DatePart> UsefulParts(std::span<const double> days);

}  // namespace fathom

#endif  // FATHOM_DATA_DATE_PARTS_H_
