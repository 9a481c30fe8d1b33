#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "bnn/fit.h"
#include "cli/baseline_options.h"
#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/progress.h"
#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/fitted/report.h"

namespace fathom::cli {

namespace {

constexpr const char* kBaselineExample =
    "Examples:\n"
    "  fathom baseline pbp train.csv --target price -o pbp.fathom\n"
    "  fathom baseline vi train.csv --target price -o vi.fathom --hidden 50,50\n"
    "  fathom baseline hmc train.csv --target price -o hmc.fathom --activation tanh\n\n"
    "Fits a Bayesian neural network, to compare a deep GP with: mean-field variational inference "
    "by Graves (vi-g) or\nwith reparameterised draws (vi), probabilistic backpropagation (pbp), "
    "dropout, stochastic gradient Langevin\ndynamics (sgld), Hamiltonian Monte Carlo (hmc). The "
    "target must be one column of numbers. 'predict', 'evaluate'\nand 'inspect' take the model "
    "like any other. A run that has not converged says so in a line with WARNING.\n\nCtrl-C ends "
    "the fit and keeps the model so far, if there is one; the exit code is then 130.";

struct BaselineCommand {
  std::string method, output;
  DataOptions data;
  BaselineWords baseline;
  bool json = false;
};

Model FitWatched(const Dataset& dataset, const bnn::BaselineOptions& options,
                 const std::string& origin) {
  ProgressBar bar;
  const Stopwatch watch;
  return bnn::FitBaseline(dataset, options,
                          {.callback =
                               [&](double fraction) {
                                 bar.Show(BarText(fraction) + "  " + TimeText(watch.Seconds()));
                                 return Interrupts::Caught() == 0;
                               },
                           .origin = origin});
}

int RunBaseline(const CLI::App& app, BaselineCommand* command) {
  FromName(command->method, &command->baseline.options.method);
  const bnn::BaselineOptions options = FinishBaseline(app, &command->baseline);
  CheckOutput(command->output, {command->data.table});
  const Dataset dataset = ReadData(command->data, options.threads);
  TellNotes(dataset.notes());
  const Interrupts interrupts;
  try {
    const Model model = FitWatched(dataset, options, DescribeData(app, command->data.table));
    SaveModel(model, command->output);
    WriteOut(command->json ? JsonReport(command->output, model, &dataset).dump(2) + "\n"
                           : HumanReport(command->output, model, &dataset));
    if (model.summary().reason != StopReason::kInterrupted) return kGood;
    Complain("interrupted; the model so far is usable and stands in " + command->output);
  } catch (const bnn::StoppedTooEarly& stopped) {
    Complain(std::string(stopped.what()) + "; no model was written");
  }
  return 128 + Interrupts::Caught();
}

}  // namespace

Command AddBaseline(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("baseline", "Fit a Bayesian neural network to compare with");
  app->footer(kBaselineExample);
  const auto command = std::make_shared<BaselineCommand>();
  app->add_option("METHOD", command->method, "vi-g, vi, pbp, dropout, sgld or hmc")
      ->required()
      ->check(OneOf(AllNames<bnn::Baseline>()))
      ->type_name("");
  app->add_option("TRAIN.csv", command->data.table, "Table to learn from; - is standard input")
      ->required()
      ->type_name("");
  app->add_option("-o,--output", command->output, "File to write the model to")
      ->required()
      ->type_name("MODEL");
  AddDataOptions(app, &command->data);
  AddBaselineOptions(app, &command->baseline);
  app->add_flag("--json", command->json, "Print the summary as one JSON object");
  return {app, [app, command] { return RunBaseline(*app, command.get()); }};
}

}  // namespace fathom::cli
