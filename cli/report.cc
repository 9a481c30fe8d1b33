#include <CLI/CLI.hpp>
#include <memory>

#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/known_targets.h"
#include "cli/large_tables.h"
#include "fathom/base/threads.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/io/atomic_file.h"
#include "report/findings.h"
#include "report/page.h"

namespace fathom::cli {

namespace {

constexpr const char* kReportExample =
    "Example:\n"
    "  fathom report price.fathom test.csv -o report.html\n\n"
    "The page opens in any browser, needs no other file and no network, and can be printed. It "
    "shows whether error\nbars hold what they promise, how large errors are and where, the rows "
    "that surprised the model most, and which\ninputs matter. TEST.csv needs the model's inputs "
    "and its target, as for 'fathom evaluate'.";

struct ReportOptions : TestOptions {
  std::string output;
};

report::Findings Gather(const ReportOptions& options, const ModelPredictor& predictor,
                        const RowsForModel& test) {
  report::Gatherer gatherer(predictor.model());
  const ThreadPool pool(options.threads);
  test.ForEachPiece(options.chunk, options.predict,
                    [&](const Dataset& rows, const PredictOptions& predict) {
                      gatherer.Add(PredictTargets(predictor, rows, predict), rows, pool);
                    });
  RequireScoredRows(gatherer.scored_rows(), test, predictor.model().schema());
  return std::move(gatherer).Finish();
}

int RunReport(const ReportOptions& options) {
  const bool to_file = options.output != "-";
  if (to_file) {
    std::vector<std::string> inputs = FilesReadBy(options.data, options.memory);
    inputs.push_back(options.model);
    CheckOutput(options.output, inputs);
  }
  const ModelPredictor predictor(LoadModel(options.model), options.threads);
  const Model& model = predictor.model();
  const RowsForModel test(options.data, options.memory, model.schema(), options.threads, {});
  RequireTargets(test, model.schema());
  const std::vector<Note>& notes = test.rows().notes();
  const std::string page =
      report::Page({.model_file = options.model, .table_file = test.table().source, .notes = notes},
                   model, Gather(options, predictor, test));
  TellNotes(notes);
  if (to_file) {
    const std::string_view whole = page;
    WriteFileAtomically(options.output, {&whole, 1});
  } else {
    WriteOut(page);
  }
  return kGood;
}

}  // namespace

Command AddReport(CLI::App* program) {
  CLI::App* app = program->add_subcommand(
      "report", "Write a page that shows whether a model can be trusted on a table");
  app->footer(kReportExample);
  const auto options = std::make_shared<ReportOptions>();
  app->add_option("-o,--output", options->output, "HTML file to write; - is standard output")
      ->required()
      ->type_name("FILE");
  AddTestOptions(app, options.get());
  return {app, [options] { return RunReport(*options); }};
}

}  // namespace fathom::cli
