// Tables as they come out of spreadsheets, R, pandas and instruments. All hold the same numbers, so
// that a model of any of them must predict the same.
#ifndef FATHOM_TESTS_SUPPORT_EVERYDAY_TABLES_H_
#define FATHOM_TESTS_SUPPORT_EVERYDAY_TABLES_H_

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace fathom {

struct EverydayTable {
  std::string what;    // for people
  std::string text;    // of the file
  std::string plain;   // the same numbers as a program would write them
  std::string option;  // what inspect must propose; empty: nothing is needed
};

// One row of the numbers.
struct EverydayRow {
  int n;
  double x, z, y;  // x has two decimals, z is whole
  bool first_kind;

  std::string X(const char* format = "%.2f") const { return Format(format, x); }
  std::string Z() const { return std::to_string(static_cast<int>(z)); }
  std::string Y() const { return Format("%.2f", y); }
  static std::string Format(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof(text), format, value);
    return text;
  }
};

inline std::vector<EverydayRow> EverydayRows() {
  std::vector<EverydayRow> rows;
  for (int n = 0; n < 40; ++n) {
    const double x = (n * 7919 % 641 - 320) * 8.75 + 0.25;
    const double z = n * 31 % 47;
    rows.push_back({n, x, z, 0.01 * x + z + (n % 2 == 0 ? 3 : 0) + n * 13 % 5, n % 2 == 0});
  }
  return rows;
}

using EverydayLine = std::function<std::string(const EverydayRow&)>;

inline std::string EverydayText(const std::string& header, const EverydayLine& line,
                                const std::string& end = "\n") {
  std::string text = header + end;
  for (const EverydayRow& row : EverydayRows()) text += line(row) + end;
  return text;
}

inline std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size()))
    text.replace(i, from.size(), to);
  return text;
}

// 1234567.25 with `mark` between thousands and `decimal` before the fraction.
inline std::string Grouped(const std::string& number, const std::string& mark,
                           const std::string& decimal) {
  const std::size_t point = number.find('.');
  std::string whole = number.substr(0, point);
  const std::size_t first = whole.starts_with('-') ? 1 : 0;
  for (std::size_t i = whole.size(); i > first + 3; i -= 3) whole.insert(i - 3, mark);
  return point == std::string::npos ? whole : whole + decimal + number.substr(point + 1);
}

// The text in UTF-16; of ASCII only.
inline std::string InUtf16(const std::string& text, bool little, bool mark) {
  std::string wide = !mark ? "" : little ? "\xff\xfe" : "\xfe\xff";
  for (const char c : text) {
    if (!little) wide += '\0';
    wide += c;
    if (little) wide += '\0';
  }
  return wide;
}

// A day of 2024 for row n, in no order, and how many days after the first one it is.
struct EverydayDay {
  int month, day, elapsed, weekday;
};
inline EverydayDay DayOf(int n) {
  const int elapsed = n * 17 % 59;  // from January, which has 31 days, into February
  return {elapsed < 31 ? 1 : 2, elapsed < 31 ? elapsed + 1 : elapsed - 30, elapsed,
          elapsed % 7 + 1};
}

// Month `month` from January 2021 on lies in this year.
inline std::string Year(int month) { return std::to_string(2021 + month / 12); }

// A few of 64 bits.
inline unsigned long long FingerprintOf(int n) {
  return 1ULL << (60 + n % 4) | (n % 3 == 0 ? 10ULL << 32 : 0) | 1ULL << n % 9;
}

inline std::vector<EverydayTable> EverydayTables() {
  const auto kind = [](const EverydayRow& r) { return r.first_kind ? "red" : "blue"; };
  const EverydayLine plain_line = [&](const EverydayRow& r) {
    return r.X() + "," + r.Z() + "," + kind(r) + "," + r.Y();
  };
  const std::string plain = EverydayText("x,z,kind,y", plain_line);
  // Between the cells of a line stands `sign`; x is written by `write`.
  const auto with_x = [&](const std::string& sign, const EverydayLine& write) {
    return EverydayText("x" + sign + "z" + sign + "kind" + sign + "y", [&](const EverydayRow& r) {
      return write(r) + sign + r.Z() + sign + kind(r) + sign + r.Y();
    });
  };
  const auto numbers = [&](const EverydayLine& line) { return EverydayText("x,z,y", line); };
  const std::string plain_numbers =
      numbers([](const EverydayRow& r) { return r.X() + "," + r.Z() + "," + r.Y(); });
  const auto comma = [](const std::string& text) { return Replaced(text, ".", ","); };
  const auto dated = [&](const std::function<std::string(const EverydayDay&)>& write) {
    return EverydayText("day,z,y", [&](const EverydayRow& r) {
      return write(DayOf(r.n)) + "," + r.Z() + "," + r.Y();
    });
  };
  const std::string plain_dates =
      EverydayText("day (days),day (weekday),z,y", [](const EverydayRow& r) {
        const EverydayDay day = DayOf(r.n);
        return std::to_string(day.elapsed) + "," + std::to_string(day.weekday) + "," + r.Z() + "," +
               r.Y();
      });
  const auto two = [](int number) { return EverydayRow::Format("%02.0f", number); };

  const auto monthly = [&](const std::function<std::string(int month)>& write) {
    return EverydayText("month,z,y", [&](const EverydayRow& r) {
      return write(r.n * 17 % 40) + "," + r.Z() + "," + r.Y();
    });
  };
  const std::string plain_months =
      monthly([&](int month) { return Year(month) + "-" + two(month % 12 + 1) + "-01"; });
  std::string bit_names = "z,y";
  for (int bit = 0; bit < 64; ++bit) bit_names += ",fp:" + std::to_string(bit);

  std::vector<EverydayTable> tables = {
      {"numbers and a category between commas", plain, plain, ""},
      {"pandas.to_csv",
       EverydayText(
           ",x,z,kind,y",
           [&](const EverydayRow& r) { return std::to_string(r.n) + "," + plain_line(r); }),
       plain, ""},
      {"R write.csv",
       EverydayText(R"("","x","z","kind","y")",
                    [&](const EverydayRow& r) {
                      return "\"" + std::to_string(r.n + 1) + "\"," + r.X() + "," + r.Z() + ",\"" +
                             kind(r) + "\"," + r.Y();
                    }),
       plain, ""},
      {"R write.table",
       EverydayText(R"("x" "z" "kind" "y")",
                    [&](const EverydayRow& r) {
                      return "\"row " + std::to_string(r.n + 1) + "\" " + r.X() + " " + r.Z() +
                             " \"" + kind(r) + "\" " + r.Y();
                    }),
       plain, ""},
      {"R write.table with tabs",
       EverydayText("x\tz\tkind\ty",
                    [&](const EverydayRow& r) {
                      return "Mazda " + std::to_string(r.n) + "\t" +
                             Replaced(plain_line(r), ",", "\t");
                    }),
       plain, ""},
      {"a German spreadsheet", comma(Replaced(plain, ",", ";")), plain, ""},
      {"tabs and decimal commas", comma(Replaced(plain, ",", "\t")), plain, ""},
      {"points between thousands",
       with_x(";", [](const EverydayRow& r) { return Grouped(r.X(), ".", ","); }), plain, ""},
      {"commas between thousands",
       with_x(",", [](const EverydayRow& r) { return "\"" + Grouped(r.X(), ",", ".") + "\""; }),
       plain, ""},
      {"apostrophes between thousands",
       with_x(",", [](const EverydayRow& r) { return Grouped(r.X(), "'", "."); }), plain, ""},
      {"blanks that do not break between thousands",
       with_x(";", [](const EverydayRow& r) { return Grouped(r.X(), "\u00a0", ","); }), plain, ""},
      {"per cent", with_x(",", [](const EverydayRow& r) { return r.X() + "%"; }), plain, ""},
      {"dollars",
       with_x(",",
              [](const EverydayRow& r) {
                const std::string text = r.X();
                const bool minus = text.starts_with('-');
                return "\"" + std::string(minus ? "-$" : "$") +
                       Grouped(text.substr(minus ? 1 : 0), ",", ".") + "\"";
              }),
       plain, ""},
      {"euros",
       with_x(";", [](const EverydayRow& r) { return Grouped(r.X(), ".", ",") + " \u20ac"; }),
       plain, ""},
      {"units behind numbers", with_x(",", [](const EverydayRow& r) { return r.X() + " kg"; }),
       plain, ""},
      {"negative numbers in parentheses",
       with_x(",",
              [](const EverydayRow& r) { return r.x < 0 ? "(" + r.X().substr(1) + ")" : r.X(); }),
       plain, ""},
      {"a Unicode minus",
       with_x(",", [](const EverydayRow& r) { return Replaced(r.X(), "-", "\u2212"); }), plain, ""},
      {"Windows-1252", Replaced(plain, "red", "gr\xfcn"), Replaced(plain, "red", "gr\u00fcn"), ""},
      {"UTF-16 as Excel saves Unicode text", InUtf16(Replaced(plain, ",", "\t"), true, true), plain,
       ""},
      {"UTF-16 without a mark", InUtf16(plain, true, false), plain, ""},
      {"UTF-16, large bytes first", InUtf16(plain, false, true), plain, ""},
      {"a byte order mark and CRLF", "\xef\xbb\xbf" + Replaced(plain, "\n", "\r\n"), plain, ""},
      {"old Macintosh line ends", Replaced(plain, "\n", "\r"), plain, ""},
      {"a line that names the separator", "sep=;\r\n" + Replaced(plain, ",", ";"), plain, ""},
      {"columns set with blanks",
       EverydayText("      x    z        y",
                    [](const EverydayRow& r) {
                      return EverydayRow::Format("%12.2f", r.x) +
                             EverydayRow::Format("  %3.0f", r.z) +
                             EverydayRow::Format(" %9.2f", r.y);
                    }),
       plain_numbers, ""},
      {"comments before the numbers",
       "# spectrometer 3\n# x z y\n" + Replaced(plain_numbers.substr(6), ",", " "), plain_numbers,
       ""},
      {"words for missing cells",
       with_x(",",
              [](const EverydayRow& r) {
                const char* const words[] = {"-", ".", "None", "<NA>", "#DIV/0!"};
                return r.n % 5 == 0 ? words[r.n / 5 % 5] : r.X();
              }),
       with_x(",", [](const EverydayRow& r) { return r.n % 5 == 0 ? "" : r.X(); }), ""},
      {"a word that only its author knows",
       with_x(",", [](const EverydayRow& r) { return r.n == 7 ? "kaputt" : r.X(); }),
       with_x(",", [](const EverydayRow& r) { return r.n == 7 ? "" : r.X(); }), "--missing kaputt"},
      {"ISO dates",
       dated([&](const EverydayDay& d) { return "2024-" + two(d.month) + "-" + two(d.day); }),
       plain_dates, ""},
      {"German dates",
       dated([&](const EverydayDay& d) { return two(d.day) + "." + two(d.month) + ".2024"; }),
       plain_dates, ""},
      {"American dates", dated([](const EverydayDay& d) {
         return std::to_string(d.month) + "/" + std::to_string(d.day) + "/24";
       }),
       plain_dates, ""},
      {"dates in words", dated([](const EverydayDay& d) {
         return std::string("\"") + (d.month == 1 ? "January " : "February ") +
                std::to_string(d.day) + ", 2024\"";
       }),
       plain_dates, ""},
      {"dates with times", dated([&](const EverydayDay& d) {
         return "2024-" + two(d.month) + "-" + two(d.day) + "T00:00:00Z";
       }),
       plain_dates, ""},
      {"months", monthly([&](int month) { return Year(month) + "-" + two(month % 12 + 1); }),
       plain_months, ""},
      {"months in words", monthly([&](int month) {
         const char* const names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
         return std::string(names[month % 12]) + "-" + Year(month).substr(2);
       }),
       plain_months, ""},
      {"times of the day",
       EverydayText(
           "x,z,y",
           [&](const EverydayRow& r) { return two(r.n * 5 % 24) + ":30," + r.Z() + "," + r.Y(); }),
       EverydayText("x,z,y",
                    [](const EverydayRow& r) {
                      return std::to_string(r.n * 5 % 24) + ".5," + r.Z() + "," + r.Y();
                    }),
       ""},
      {"names that turn the direction of writing",
       Replaced(plain, "x,z,kind,y", "\u202ex,z\u2066,kind\u200f,y"), plain, ""},
      {"fingerprints",
       EverydayText("fp,z,y",
                    [](const EverydayRow& r) {
                      char digits[32];
                      std::snprintf(digits, sizeof(digits), "%016llx", FingerprintOf(r.n));
                      return digits + ("," + r.Z()) + "," + r.Y();
                    }),
       EverydayText(bit_names,
                    [](const EverydayRow& r) {
                      std::string line = r.Z() + "," + r.Y();
                      for (int bit = 63; bit >= 0; --bit)
                        line += (FingerprintOf(r.n) >> bit & 1) ? ",1" : ",0";
                      return line;
                    }),
       "--bits fp"},
      {"a separator at the end of every line", Replaced(plain, "\n", ",\n"), plain, ""},
      {"upright strokes", Replaced(plain, ",", "|"), plain, ""},
      {"names of the rows",
       EverydayText("id,x,z,kind,y",
                    [&](const EverydayRow& r) {
                      return "sample " + std::to_string(r.n) + "," + plain_line(r);
                    }),
       plain, ""},
  };
  return tables;
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_EVERYDAY_TABLES_H_
