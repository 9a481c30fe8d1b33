// Dates and times as they are written in tables: "2024-05-31T14:30", "31.5.24", "March 1, 2024".
#ifndef FATHOM_DATA_WRITTEN_DATE_H_
#define FATHOM_DATA_WRITTEN_DATE_H_

#include <string>
#include <string_view>

namespace fathom::internal {

// Reads the whole of `text` as a date, with or without a time of day behind it, into days since
// 1970-01-01. Where day and month are two numbers before the year, `day_first` says which is which.
// A month or a quarter stands for its first day, a two-digit year for one from 1969 to 2068, and a
// day without a year for that day of the year 2000. A time with an offset counts as UTC.
bool ReadWrittenDate(std::string_view text, bool day_first, double* days);

// Reads "14:30", "2:30:05.5 PM" or "36:15" into hours.
bool ReadWrittenTime(std::string_view text, double* hours);

// 2024-05-31, or 2024-05-31 14:30 if it is not midnight.
std::string DateText(double days);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_WRITTEN_DATE_H_
