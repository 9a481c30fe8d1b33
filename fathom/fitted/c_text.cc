#include "fathom/fitted/c_text.h"

#include <charconv>
#include <cmath>

#include "fathom/base/error.h"

namespace fathom {

std::string CNumber(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "HUGE_VAL" : "-HUGE_VAL";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, end.ptr};
}

void CText::Part(const std::string& text) {
  std::size_t begin = 0;
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', begin)) {
    text_.append(text, begin, at - begin).append(prefix_);
    begin = at + 1;
  }
  text_.append(text, begin);
}

std::string CText::Table(const std::string& name, const Matrix& numbers) {
  const Index size = numbers.size();
  FATHOM_CHECK(size > 0);
  std::string text = "static const double @" + name + "[" + std::to_string(size) + "] = {";
  for (Index i = 0; i < size; ++i) {
    if (i % 4 == 0) text += "\n    ";
    text += CNumber(numbers.data()[i]);
    text += i + 1 < size ? (i % 4 == 3 ? "," : ", ") : "";
  }
  Part(text + "};\n");
  return "@" + name;
}

std::string CText::Table(const std::string& name, const std::vector<std::size_t>& numbers) {
  FATHOM_CHECK(!numbers.empty());
  std::string text = "static const int @" + name + "[] = {";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  Part(text + "};\n");
  return "@" + name;
}

std::string CText::Columns(const std::string& name, const Scaler& scaler) {
  std::vector<std::string> entries;
  for (Index c = 0; c < scaler.mean.size(); ++c) {
    entries.push_back(CNumber(scaler.mean[c]) + ", " + CNumber(scaler.scale[c]) + ", " +
                      CNumber(scaler.missing_var[c]));
  }
  return Structs("column", name, entries);
}

std::string CText::Structs(const std::string& type, const std::string& name,
                           const std::vector<std::string>& entries) {
  std::string text =
      "static const @" + type + " @" + name + "[" + std::to_string(entries.size()) + "] = {\n";
  for (std::size_t i = 0; i < entries.size(); ++i)
    text += "    {" + entries[i] + (i + 1 < entries.size() ? "},\n" : "}};\n");
  Part(text);
  return "@" + name;
}

}  // namespace fathom
