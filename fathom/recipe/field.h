// What is said of an option that people may set: name, kind, allowed values, help, the program's
// name for it.
#ifndef FATHOM_RECIPE_FIELD_H_
#define FATHOM_RECIPE_FIELD_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "fathom/base/types.h"

namespace fathom {

// What a number may be. Always finite.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;  // `low` itself is not allowed

  bool Contains(double value) const;
  bool Bounded() const;  // on some side
  // "positive and at most 10", "from 0 to 1", "at least 1": goes after "must be".
  std::string Describe() const;
};

// One of a few names: an enum of the recipe, whatever its type.
struct Choice {
  std::function<std::string()> get;
  std::function<void(const std::string&)> set;
};

// Where a field is stored. The kind of a field is the kind of this.
using FieldValue = std::variant<bool*, int*, Index*, std::uint64_t*, double*, std::string*,
                                std::vector<Index>*, Choice>;

struct Field {
  std::string name;  // dotted, as in JSON: "optimizer.learning_rate"
  FieldValue value;
  Range range = {};  // of a number, and of each number of a list
  // All names of a Choice; the known kinds, for a string; what the program calls false and true,
  // for a bool that is no flag there.
  std::vector<std::string> choices = {};
  std::string unit = {};         // "s"
  std::string option = {};       // of the program: "learning-rate"; empty if there is none
  std::string placeholder = {};  // of its value in the program's help: "R"
  std::string help = {};
};

// The kind of a field in one word: "flag", "whole number", "number", "string", "list", "choice".
std::string KindOf(const Field& field);

}  // namespace fathom

#endif  // FATHOM_RECIPE_FIELD_H_
