// Options that are fields: of a recipe, or of a baseline.
#ifndef FATHOM_CLI_FIELD_OPTIONS_H_
#define FATHOM_CLI_FIELD_OPTIONS_H_

#include <string>

#include "cli/cli11_fwd.h"
#include "fathom/recipe/fields.h"

namespace fathom::cli {

// Adds the option of a field. CLI11 puts plain numbers and strings where the field is stored; all
// else stays in *word until ReadFieldWord.
void AddFieldOption(const Field& field, std::string* word, CLI::App* app);

// Puts what stayed in `word` where the field is stored. Throws Error naming the option.
void ReadFieldWord(const Field& field, const std::string& word);

// What the user would have to give for the value that the field has now.
std::string FieldWord(const Field& field);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_FIELD_OPTIONS_H_
