// What a bad input is, and how some are made.
#ifndef FATHOM_TESTS_SUPPORT_BAD_INPUT_H_
#define FATHOM_TESTS_SUPPORT_BAD_INPUT_H_

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

enum class Stdout { kFile, kFull, kClosed };

struct BadInput {
  std::string what;               // for people
  std::string content;            // of bad.csv; empty: the command reads other files
  std::string command;            // without 'fathom', words separated by blanks
  std::vector<std::string> told;  // what the message must name: place, value, cure
  int code = 2;
  Stdout out = Stdout::kFile;
  long most_bytes = -1;  // that a file may have, as on a full disk; -1: any number
};

struct BadInputSection {
  std::string title, about;
  std::vector<BadInput> inputs;
};

inline std::string FitBad(const std::string& more = "") {
  return "fit bad.csv --target y -o new.fathom --steps 3 --inducing 5" +
         (more.empty() ? "" : " " + more);
}

inline std::string FitTrain(const std::string& more) {
  return "fit train.csv --target y -o new.fathom --steps 3 --inducing 5 " + more;
}

// `rows` lines made by `line(n)` under a header.
template <typename Line>
std::string Rows(const std::string& header, int rows, const Line& line) {
  std::string text = header + "\n";
  for (int n = 0; n < rows; ++n) {
    text += line(n);
    text += '\n';
  }
  return text;
}

// A table with so many input columns.
inline std::string WideTable(int columns, int rows) {
  std::string header;
  for (int c = 0; c < columns; ++c) header += "c" + std::to_string(c) + ",";
  return Rows(header + "y", rows, [&](int n) {
    std::string line;
    for (int c = 0; c < columns; ++c)
      line += std::to_string((7919L * n * n + 104729L * (c + 1) * (n + 1)) % 1000003) + ",";
    return line + std::to_string(n % 4);
  });
}

// An NPY file with this description in its header and no numbers.
inline std::string NpyHeader(std::string description) {
  description.append(118 - description.size(), ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + description;
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_BAD_INPUT_H_
