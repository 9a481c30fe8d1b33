// The text of a C header while it is written.
#ifndef FATHOM_FITTED_C_TEXT_H_
#define FATHOM_FITTED_C_TEXT_H_

#include <sstream>
#include <string>
#include <vector>

#include "fathom/data/standardize.h"

namespace fathom {

// The fewest digits that read back as the same bits.
std::string CNumber(double value);

class CText {
 public:
  // Every '@' of what is added becomes `prefix`.
  explicit CText(std::string prefix) : prefix_(std::move(prefix)) {}

  void Part(const std::string& text);
  // Adds text as it is.
  void Plain(const std::string& text) { text_ += text; }
  template <typename... Pieces>
  void Line(const Pieces&... pieces) {
    std::ostringstream line;
    (line << ... << pieces) << "\n";
    Part(line.str());
  }
  // `@name`, an array of the numbers row by row; returns "@name". There must be at least one.
  std::string Table(const std::string& name, const Matrix& numbers);
  std::string Table(const std::string& name, const std::vector<std::size_t>& numbers);
  // `@name`, an array of `@column`.
  std::string Columns(const std::string& name, const Scaler& scaler);
  // "static const @type @name[] = {{entry}, {entry}};"; returns "@name".
  std::string Structs(const std::string& type, const std::string& name,
                      const std::vector<std::string>& entries);

  std::string Take() { return std::move(text_); }

 private:
  std::string prefix_, text_;
};

}  // namespace fathom

#endif  // FATHOM_FITTED_C_TEXT_H_
