#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "bnn/fit.h"
#include "cli/baseline_options.h"
#include "cli/baseline_run.h"
#include "cli/common.h"
#include "cli/data_options.h"
#include "cli/training.h"

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
    "the fit and keeps the model so far, if there is one; the exit code is then 130. 'fathom "
    "resume' goes on from there,\nand after a crash from MODEL.checkpoint, to the same model as "
    "without a break.";

struct BaselineCommand {
  std::string method;
  DataOptions data;
  BaselineWords baseline;
  BaselineRun run;
};

int RunBaseline(const CLI::App& app, BaselineCommand* command) {
  FromName(command->method, &command->baseline.options.method);
  const bnn::BaselineOptions options = FinishBaseline(app, &command->baseline);
  CheckOutput(command->run.output, {command->data.table});
  const Dataset dataset = ReadData(command->data, options.threads);
  std::error_code ignored;  // what an earlier fit has left is not to be resumed
  std::filesystem::remove(CheckpointPath(command->run.output), ignored);
  return FitBaselineWatched(command->run, dataset, [&](bnn::BaselineControl control) {
    control.origin = DescribeData(app, command->data.table);
    return bnn::FitBaseline(dataset, options, control);
  });
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
  app->add_option("-o,--output", command->run.output, "File to write the model to")
      ->required()
      ->type_name("MODEL");
  AddDataOptions(app, &command->data);
  AddBaselineOptions(app, &command->baseline);
  AddCheckpointEvery(app, &command->run.checkpoint_every);
  app->add_flag("--json", command->run.json, "Print the summary as one JSON object");
  return {app, [app, command] { return RunBaseline(*app, command.get()); }};
}

}  // namespace fathom::cli
