#include "cli/known_targets.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/common.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom::cli {

void AddTestOptions(CLI::App* app, TestOptions* options) {
  app->add_option("MODEL", options->model, "Model that 'fathom fit' has written")
      ->required()
      ->type_name("");
  app->add_option("TEST.csv", options->data.table,
                  "Table with the model's inputs and target; - is standard input")
      ->required()
      ->type_name("");
  AddReadingOptions(app, &options->data);
  AddMemoryOptions(app, &options->memory);
  AddSamples(app, &options->predict.samples, &options->predict.seed);
  AddThreads(app, &options->threads);
  AddChunk(app, &options->chunk);
}

void RequireTargets(const RowsForModel& test, const Schema& schema) {
  const Table& table = test.table();
  for (const std::string& target : schema.targets) {
    if (std::count(table.columns.begin(), table.columns.end(), target) == 0) {
      ThrowError(table.source, ": has no target column ", Quoted(target),
                 ", to which predictions could be compared; 'fathom predict' needs none");
    }
  }
  // A row of a class that the model does not know would have probability 0; leaving it out would
  // flatter the model.
  for (const Note& note : test.rows().notes()) {
    if (note.kind == "unseen_classes")
      ThrowError(note.text, ", but scores need the true class; correct or remove them");
  }
}

void RequireScoredRows(Index rows, const RowsForModel& test, const Schema& schema) {
  if (rows > 0) return;
  ThrowError(test.table().source, ": no row has a value in ", QuotedList(schema.targets),
             "; give rows whose targets are known");
}

}  // namespace fathom::cli
