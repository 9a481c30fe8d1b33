#include "cli/field_options.h"

#include <CLI/CLI.hpp>
#include <sstream>
#include <variant>

#include "cli/common.h"

namespace fathom::cli {

namespace {

std::string JoinedByBars(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "|") + word;
  return text;
}

// Adds the option of a field. CLI11 reads plain numbers and strings by itself, into the
// recipe; what else there is stays in *word until ReadWord.
struct AddOption {
  CLI::App* app;
  const Field& field;
  std::string* word;

  std::string Flag() const { return "--" + field.option; }
  template <typename Value>
  CLI::Option* Add(Value* value) const {
    return app->add_option(Flag(), *value, field.help)
        ->type_name(field.placeholder)
        ->capture_default_str();
  }
  void AddChoice(const std::string& present) const {
    *word = present;
    Add(word)->type_name(JoinedByBars(field.choices))->check(OneOf(field.choices));
  }

  void operator()(bool* value) const {
    if (!field.choices.empty()) return AddChoice(field.choices[*value ? 1 : 0]);
    app->add_flag(Flag() + ",!--no-" + field.option, *value, field.help);
  }
  void operator()(const Choice& choice) const { AddChoice(choice.get()); }
  void operator()(int* value) const {
    Add(value)->check(
        InRange(static_cast<Index>(field.range.low), static_cast<Index>(field.range.high)));
  }
  void operator()(Index* value) const { Add(value); }
  void operator()(std::uint64_t* value) const { AddSeed(app, value, field.help.c_str()); }
  void operator()(double* value) const {
    if (field.unit != "s") {
      Add(value);
    } else {
      Add(word)->description(field.help + ": 90s, 5m or 1h");
    }
  }
  void operator()(std::string* value) const { Add(value); }
  void operator()(std::vector<Index>* value) const {
    *word = JoinCounts(*value);
    Add(word);
  }
};

// Puts what AddOption left in `word` into the recipe.
struct ReadWord {
  const Field& field;
  const std::string& word;

  void operator()(bool* value) const {
    if (!field.choices.empty()) *value = word == field.choices[1];
  }
  void operator()(const Choice& choice) const { choice.set(word); }
  void operator()(double* value) const {
    if (!word.empty()) *value = ParseDuration("--" + field.option, word);
  }
  void operator()(std::vector<Index>* value) const {
    *value = ParseCounts(("--" + field.option).c_str(), word);
  }
  template <typename Value>
  void operator()(Value*) const {}
};

struct WriteWord {
  const Field& field;

  std::string operator()(const bool* value) const {
    if (!field.choices.empty()) return field.choices[*value ? 1 : 0];
    return *value ? "true" : "false";
  }
  std::string operator()(const Choice& choice) const { return choice.get(); }
  std::string operator()(const double* value) const {
    std::ostringstream text;
    text.precision(17);
    text << *value << field.unit;
    return text.str();
  }
  std::string operator()(const std::string* value) const { return *value; }
  std::string operator()(const std::vector<Index>* value) const { return JoinCounts(*value); }
  template <typename Value>
  std::string operator()(const Value* value) const {
    return std::to_string(*value);
  }
};

}  // namespace

void AddFieldOption(const Field& field, std::string* word, CLI::App* app) {
  std::visit(AddOption{app, field, word}, field.value);
}

void ReadFieldWord(const Field& field, const std::string& word) {
  std::visit(ReadWord{field, word}, field.value);
}

std::string FieldWord(const Field& field) { return std::visit(WriteWord{field}, field.value); }

}  // namespace fathom::cli
