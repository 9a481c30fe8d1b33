// Words that stand for a missing cell.
#ifndef FATHOM_DATA_MISSING_WORDS_H_
#define FATHOM_DATA_MISSING_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace fathom::internal {

class MissingWords {
 public:
  // `more` than the usual ones. One that is a number, such as -999, also means that number however
  // it is written.
  explicit MissingWords(const std::vector<std::string>& more = {});

  // In any column: nothing, NA, N/A, NaN, null, ? and the like, in upper or lower case.
  bool InText(std::string_view cell) const;
  // Among numbers and dates also "-", ".", "none" and the errors of spreadsheets, which might be
  // names in a column of names.
  bool InNumbers(std::string_view cell) const;
  // Whether there are numbers that stand for a missing cell, and whether this is one.
  bool has_numbers() const { return !numbers_.empty(); }
  bool IsMissing(double value) const {
    for (const double number : numbers_) {
      if (value == number) return true;
    }
    return false;
  }

 private:
  bool IsMine(std::string_view cell) const;
  std::vector<std::string> words_;  // in lower case
  std::vector<double> numbers_;
};

}  // namespace fathom::internal

#endif  // FATHOM_DATA_MISSING_WORDS_H_
