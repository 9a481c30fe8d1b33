#include "fathom/data/written_date.h"

#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace fathom::internal {
namespace {

using std::chrono::sys_days;

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};
constexpr std::array<std::string_view, 7> kWeekdays = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

// The place of the name that `word` is, whole or by its first three letters; -1 if it is none.
template <std::size_t size>
int FindName(const std::array<std::string_view, size>& names, std::string_view word) {
  for (std::size_t k = 0; k < size; ++k) {
    const bool shortened = word.size() >= 3 && names[k].starts_with(word);
    if (shortened && (word.size() <= 4 || word == names[k])) return static_cast<int>(k);
  }
  return -1;
}

// Reads numbers, words and signs from the front of a text.
class DateScanner {
 public:
  explicit DateScanner(std::string_view text) : text_(text) {}

  bool AtEnd() const { return text_.empty(); }
  bool TakeAny(std::string_view signs, char* taken = nullptr) {
    if (text_.empty() || signs.find(text_.front()) == signs.npos) return false;
    if (taken != nullptr) *taken = text_.front();
    text_.remove_prefix(1);
    return true;
  }
  void SkipBlanks() {
    while (TakeAny(" ")) continue;
  }
  // A number of at most `most` digits; how many it has, 0 if there is none.
  int TakeNumber(int most, int* value) {
    int digits = 0;
    *value = 0;
    while (digits < static_cast<int>(text_.size()) && std::isdigit(Byte(digits)) != 0) {
      if (digits == most) return 0;
      *value = 10 * *value + (text_[digits++] - '0');
    }
    text_.remove_prefix(static_cast<std::size_t>(digits));
    return digits;
  }
  // Letters, made small, with a point behind them dropped.
  std::string TakeWord() {
    std::string word;
    while (word.size() < text_.size() && std::isalpha(Byte(static_cast<int>(word.size()))) != 0)
      word += static_cast<char>(std::tolower(Byte(static_cast<int>(word.size()))));
    text_.remove_prefix(word.size());
    if (!word.empty()) TakeAny(".");
    return word;
  }
  bool TakeMonth(int* month) {
    DateScanner ahead = *this;
    *month = FindName(kMonths, ahead.TakeWord()) + 1;
    if (*month == 0) return false;
    *this = ahead;
    return true;
  }

 private:
  unsigned char Byte(int at) const {
    return static_cast<unsigned char>(text_[static_cast<std::size_t>(at)]);
  }
  std::string_view text_;
};

bool ToDays(int year, int month, int day, double* days) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return false;
  *days = static_cast<double>(sys_days{date}.time_since_epoch().count());
  return true;
}

int FullYear(int year, int digits) { return digits > 2 ? year : year + (year < 69 ? 2000 : 1900); }

// "2024-05-31", "2024/05", "2024-Q2": what follows a year of four digits.
bool TakeAfterYear(int year, DateScanner* scanner, double* days) {
  char sign = 0;
  const bool has_sign = scanner->TakeAny("-/. ", &sign);
  int month = 0, day = 1;
  DateScanner quarter = *scanner;
  if (quarter.TakeAny("Qq") && quarter.TakeNumber(1, &month) == 1) {
    *scanner = quarter;
    return month >= 1 && month <= 4 && ToDays(year, 3 * month - 2, 1, days);
  }
  if (!has_sign) return false;
  if (!scanner->TakeMonth(&month) && scanner->TakeNumber(2, &month) == 0) return false;
  const char same[] = {sign, 0};
  DateScanner ahead = *scanner;
  if (ahead.TakeAny(same) && ahead.TakeNumber(2, &day) > 0) {
    *scanner = ahead;
  } else if (sign == '.' || sign == ' ') {
    return false;  // 2024.05 is a number
  } else {
    day = 1;
  }
  return ToDays(year, month, day, days);
}

// "31.5.2024", "5/31/24", "1-Jan-2024", "1 March", and what begins with a day or month in digits.
bool TakeAfterNumber(int first, bool day_first, DateScanner* scanner, double* days) {
  char sign = 0;
  const bool has_sign = scanner->TakeAny("-/. ", &sign);
  scanner->SkipBlanks();
  int second = 0, year = 0;
  const bool named = scanner->TakeMonth(&second);
  if (!named && (!has_sign || sign == ' ' || scanner->TakeNumber(2, &second) == 0)) return false;
  DateScanner ahead = *scanner;
  int digits = 0;
  char again = 0;
  if (ahead.TakeAny("-/., ", &again) && (named || again == sign)) {
    if (named) ahead.SkipBlanks();
    digits = ahead.TakeNumber(4, &year);
    if (digits == 2 || digits == 4) *scanner = ahead;
  }
  if (digits != 2 && digits != 4) return named && ToDays(2000, second, first, days);
  const bool swap = !named && !day_first;
  return ToDays(FullYear(year, digits), swap ? first : second, swap ? second : first, days);
}

// "March 1, 2024", "Jan-01", "May 2024": a two-digit number behind the name alone is a year, as in
// the mmm-yy of spreadsheets.
bool TakeAfterMonth(int month, DateScanner* scanner, double* days) {
  scanner->TakeAny("-/, ");
  scanner->SkipBlanks();
  int first = 0, year = 0;
  const int digits = scanner->TakeNumber(4, &first);
  if (digits == 0 || digits == 3) return false;
  DateScanner ahead = *scanner;
  if (digits <= 2 && ahead.TakeAny("-/, ")) {
    ahead.SkipBlanks();
    const int more = ahead.TakeNumber(4, &year);
    if (more == 2 || more == 4) {
      *scanner = ahead;
      return ToDays(FullYear(year, more), month, first, days);
    }
  }
  return digits >= 2 && ToDays(FullYear(first, digits), month, 1, days);
}

bool TakeDate(bool day_first, DateScanner* scanner, double* days) {
  DateScanner ahead = *scanner;
  if (FindName(kWeekdays, ahead.TakeWord()) >= 0) {
    ahead.TakeAny(",");
    ahead.SkipBlanks();
    *scanner = ahead;
  }
  int month = 0, first = 0;
  if (scanner->TakeMonth(&month)) return TakeAfterMonth(month, scanner, days);
  const int digits = scanner->TakeNumber(4, &first);
  if (digits == 4) return TakeAfterYear(first, scanner, days);
  return (digits == 1 || digits == 2) && TakeAfterNumber(first, day_first, scanner, days);
}

// "14:30", "2:30:05.25 PM"; in hours.
bool TakeClock(int most_hour_digits, DateScanner* scanner, double* hours) {
  int hour = 0, minute = 0, second = 0;
  if (scanner->TakeNumber(most_hour_digits, &hour) == 0 || !scanner->TakeAny(":") ||
      scanner->TakeNumber(2, &minute) != 2 || minute > 59)
    return false;
  double fraction = 0;
  if (scanner->TakeAny(":")) {
    if (scanner->TakeNumber(2, &second) != 2 || second > 60) return false;
    char digit = 0;
    if (scanner->TakeAny(".,")) {
      for (double scale = 0.1; scanner->TakeAny("0123456789", &digit); scale /= 10)
        fraction += scale * (digit - '0');
    }
  }
  scanner->SkipBlanks();
  DateScanner ahead = *scanner;
  const std::string word = ahead.TakeWord();
  if (word == "am" || word == "pm" || word == "a" || word == "p") {
    if (hour < 1 || hour > 12) return false;
    if (ahead.TakeAny("Mm")) ahead.TakeAny(".");  // a.m.
    hour = hour % 12 + (word.starts_with('p') ? 12 : 0);
    *scanner = ahead;
  }
  *hours = hour + minute / 60.0 + (second + fraction) / 3600;
  return true;
}

// "Z", "UTC", "+02:00": the hours to take away.
bool TakeZone(DateScanner* scanner, double* hours) {
  scanner->SkipBlanks();
  *hours = 0;
  if (scanner->AtEnd()) return true;
  char sign = 0;
  if (!scanner->TakeAny("+-", &sign)) {
    const std::string zone = scanner->TakeWord();
    return zone == "z" || zone == "utc" || zone == "gmt";
  }
  int offset = 0, minutes = 0;
  const int digits = scanner->TakeNumber(4, &offset);
  if (digits == 4) {
    minutes = offset % 100;
    offset /= 100;
  } else if (digits == 0 || digits == 3 ||
             (scanner->TakeAny(":") && scanner->TakeNumber(2, &minutes) != 2)) {
    return false;
  }
  *hours = (sign == '-' ? -1 : 1) * (offset + minutes / 60.0);
  return true;
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool ReadWrittenDate(std::string_view text, bool day_first, double* days) {
  DateScanner scanner(Trimmed(text));
  if (!TakeDate(day_first, &scanner, days)) return false;
  if (scanner.AtEnd()) return true;
  double clock = 0, zone = 0;
  if (!scanner.TakeAny("T, ")) return false;
  scanner.SkipBlanks();
  if (!TakeClock(2, &scanner, &clock) || clock > 24 || !TakeZone(&scanner, &zone)) return false;
  *days += (clock - zone) / 24;
  return scanner.AtEnd();
}

bool ReadWrittenTime(std::string_view text, double* hours) {
  DateScanner scanner(Trimmed(text));
  return TakeClock(3, &scanner, hours) && scanner.AtEnd();
}

std::string DateText(double days) {
  const double whole = std::floor(days);
  const std::chrono::year_month_day date{sys_days(std::chrono::days(static_cast<int>(whole)))};
  const int minutes = static_cast<int>((days - whole) * 1440);
  char text[64];
  std::snprintf(text, sizeof(text), minutes == 0 ? "%04d-%02u-%02u" : "%04d-%02u-%02u %02d:%02d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), minutes / 60, minutes % 60);
  return text;
}

}  // namespace fathom::internal
