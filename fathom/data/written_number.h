// Numbers as people and office programs write them: "1.234,5", "$ 5", "3 kg", "(5)", "12 %".
#ifndef FATHOM_DATA_WRITTEN_NUMBER_H_
#define FATHOM_DATA_WRITTEN_NUMBER_H_

#include <string>
#include <string_view>

namespace fathom::internal {

struct WrittenNumber {
  double value = 0;
  std::string affix = {};  // the unit, per cent or currency sign beside it; empty: none
};

// Reads the whole of `text`, which may be UTF-8 or Windows-1252, where `decimal` ('.' or ',')
// stands before the fraction. Between thousands may stand the other of these two, a blank (also one
// that does not break) or an apostrophe. Parentheses make a number negative; a minus may be U+2212.
// False if it is no such number, or not a finite one.
bool ReadWrittenNumber(std::string_view text, char decimal, WrittenNumber* number);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_WRITTEN_NUMBER_H_
