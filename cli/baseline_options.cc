#include "cli/baseline_options.h"

#include <CLI/CLI.hpp>

#include "cli/field_options.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/recipe/recipe.h"

namespace fathom::cli {

namespace {

// The library speaks of fields; here they are options.
void CheckBaselineOptions(bnn::BaselineOptions* options) {
  try {
    bnn::CheckBaseline(*options);
  } catch (const RecipeError& error) {
    for (const bnn::BaselineField& field : bnn::BaselineFields(options)) {
      if (field.name == error.field()) ThrowError("--", field.option, ": ", error.rule());
    }
    throw;
  }
}

}  // namespace

void AddBaselineOptions(CLI::App* app, BaselineWords* baseline, const bnn::Baseline* method) {
  for (bnn::BaselineField& field : bnn::BaselineFields(&baseline->options)) {
    if (method != nullptr && !field.Has(*method)) continue;
    if (method == nullptr && !field.methods.empty()) {
      std::string names;
      for (const bnn::Baseline of : field.methods)
        names += (names.empty() ? "" : ", ") + NameOf(of);
      field.help += " (" + names + ")";
    }
    AddFieldOption(field, &baseline->words[field.option], app);
  }
}

bnn::BaselineOptions FinishBaseline(const CLI::App& app, BaselineWords* baseline) {
  bnn::BaselineOptions& options = baseline->options;
  std::vector<std::string> has;
  for (const bnn::BaselineField& field : bnn::BaselineFields(&options)) {
    if (field.Has(options.method)) has.push_back("--" + field.option);
  }
  for (const bnn::BaselineField& field : bnn::BaselineFields(&options)) {
    const bool here = field.Has(options.method);
    const CLI::Option* option = app.get_option_no_throw("--" + field.option);
    if (!here && option != nullptr && option->count() > 0)
      ThrowError("--", field.option, ": ", NameOf(options.method), " has no such option; it has ",
                 QuotedList(has));
    if (here) ReadFieldWord(field, baseline->words[field.option]);
  }
  CheckBaselineOptions(&options);
  return options;
}

}  // namespace fathom::cli
