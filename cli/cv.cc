#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "cli/common.h"
#include "cli/cv_compare.h"
#include "cli/data_options.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/recipe_options.h"
#include "cli/score_lines.h"
#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/base/text.h"
#include "fathom/data/csv.h"
#include "fathom/fit/cross_validate.h"
#include "fathom/fit/linear_baseline.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/json_text.h"

namespace fathom::cli {

namespace {

constexpr const char* kCvExample =
    "Examples:\n"
    "  fathom cv train.csv --target price\n"
    "  fathom cv train.csv --target price --folds 10 --group patient        rows of one patient "
    "stay "
    "together\n"
    "  fathom cv train.csv --target price --fold-column split -o held_out.csv\n"
    "  fathom cv train.csv --target price --order day                       never learn from the "
    "future\n"
    "  fathom cv train.csv --target price --compare default '--hidden 0' linear\n\n"
    "Fits the recipe once per fold to the rows of the other folds and scores the rows of the fold. "
    "Prints the mean\nof each score over the folds and its standard error. All options of 'fathom "
    "fit' that shape a model can be\ngiven. Folds run side by side; the result does not depend on "
    "--threads. In the scores every row counts\nonce, whatever --weights says. Ctrl-C ends it "
    "soon, "
    "without scores.";

struct CvOptions {
  DataOptions data;
  RecipeOptions recipe;
  Index folds = 5;
  std::string group, fold_column, order, output;
  std::string quantiles = "0.025,0.975";
  double test = 0;  // share of the rows to hold out in one split; 0: folds
  std::vector<std::string> compare;
  bool json = false;
};

// A table, and the column of it that says which rows belong together.
struct CvData {
  Dataset dataset;
  Vector parts;  // [rows]: the column's number, or the place of its string; may be empty
};

// The number of a row in the file, from 1: rows without a target are not in the dataset.
Index RowOfTable(const Dataset& dataset, Index n) {
  return dataset.table_rows()[static_cast<std::size_t>(n)] + 1;
}

CvData ReadCvData(const CvOptions& options, int threads) {
  const std::string& name = !options.fold_column.empty() ? options.fold_column
                            : !options.order.empty()     ? options.order
                                                         : options.group;
  if (name.empty()) return {ReadData(options.data, threads), {}};
  Roles roles = RolesOf(options.data);
  const Table table = ReadTableFor(options.data, roles, threads);
  const Index place = FindColumn(table, name);
  // Time may be an input, too: rows of the future are never learnt from.
  if (options.order.empty()) roles.ignore.push_back(table.columns[place]);
  CvData data{MakeDataset(table, roles, ReadInputStd(options.data, threads)), {}};
  if (table.LevelsOf(place).size() > Table::kMostLevels) {
    ThrowError(table.source, ": column ", Quoted(table.columns[place]), " has more than ",
               Table::kMostLevels, " different values; number them");
  }
  data.parts = table.values(data.dataset.table_rows(), place);
  for (Index n = 0; n < data.parts.size(); ++n) {
    if (std::isnan(data.parts[n]))
      ThrowError(table.source, ": row ", RowOfTable(data.dataset, n), " has no ",
                 !options.fold_column.empty() ? "fold"
                 : options.order.empty()      ? "group"
                                              : "time",
                 " in column ", Quoted(table.columns[place]));
  }
  return data;
}

// The one split of --test: rows by chance or, with --order, the latest.
Split HoldOutOnce(const CvOptions& options, const CvData& data, RandomStream* stream) {
  const Index rows = data.dataset.rows();
  Split split = RandomSplit(rows, options.test, stream);
  if (options.order.empty()) return split;
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return data.parts[a] < data.parts[b]; });
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(split.train.size());
  split = {{order.begin(), cut}, {cut, order.end()}};
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.held_out.begin(), split.held_out.end());
  return split;
}

std::vector<Split> MakeSplits(const CvOptions& options, std::uint64_t seed, const CvData& data) {
  RandomStream stream(seed);
  try {
    if (options.test > 0) return {HoldOutOnce(options, data, &stream)};
    if (!options.order.empty()) return OrderedFolds(data.parts, options.folds);
    if (!options.fold_column.empty()) return GivenFolds(data.parts);
    if (!options.group.empty()) return GroupedFolds(data.parts, options.folds, &stream);
    return KFold(data.dataset.rows(), options.folds, &stream);
  } catch (const Error& error) {
    ThrowError(data.dataset.source(), ": ", error.what());
  }
}

std::string HumanScores(const FoldScores& scores) {
  const std::vector<NamedScore> means = NamedScores(scores.mean);
  const std::vector<NamedScore> errors = NamedScores(scores.standard_error);
  std::string text;
  char buffer[200];
  for (std::size_t i = 0; i < errors.size(); ++i) {
    // One split has no standard error.
    std::snprintf(buffer, sizeof(buffer), "%-20s %12s +- %-12s %s\n", means[i].kind->key,
                  Short(means[i].value).c_str(),
                  std::isnan(errors[i].value) ? "?" : Short(errors[i].value).c_str(),
                  means[i].kind->meaning);
    text += buffer;
  }
  std::snprintf(buffer, sizeof(buffer), "%-20s %12lld    in %zu %s\n", "rows",
                static_cast<long long>(ScoredRows(scores.mean)), scores.folds.size(),
                scores.folds.size() == 1 ? "fold" : "folds");
  return text + buffer;
}

// What a linear regression reaches on the same folds.
std::string LinearText(const FoldScores& linear) {
  const auto& mean = std::get<Scores>(linear.mean);
  return "a linear regression on the same folds: rmse " + Short(mean.rmse) +
         ", mean_log_likelihood " + Short(mean.mean_log_likelihood) + ", crps " + Short(mean.crps) +
         "\n";
}

// The scores of numbers. Several targets are shown one by one, because their units may differ.
std::string NumbersText(const Schema& schema, const FoldScores& scores, const FoldScores& linear) {
  if (scores.of_target.empty()) return HumanScores(scores) + "\n" + LinearText(linear);
  std::string text;
  for (std::size_t t = 0; t < scores.of_target.size(); ++t) {
    text += "target " + Quoted(schema.targets[t]) + "\n" + HumanScores(scores.of_target[t]) +
            LinearText(linear.of_target[t]) + "\n";
  }
  return text + "all targets together: mean_log_likelihood " +
         Short(std::get<Scores>(scores.mean).mean_log_likelihood) + ", of a linear regression " +
         Short(std::get<Scores>(linear.mean).mean_log_likelihood) + "\n";
}

// An object per target.
nlohmann::ordered_json TargetsJson(const Schema& schema, const FoldScores& scores) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t t = 0; t < scores.of_target.size(); ++t) {
    const FoldScores& own = scores.of_target[t];
    json[schema.targets[t]] = {{"rows", ScoredRows(own.mean)},
                               {"mean", ScoresJson(own.mean)},
                               {"standard_error", ScoresJson(own.standard_error)}};
  }
  return json;
}

nlohmann::ordered_json JsonScores(const Dataset& dataset, const FoldScores& scores) {
  nlohmann::ordered_json json = {{"rows", ScoredRows(scores.mean)},
                                 {"notes", NotesJson(dataset.notes())},
                                 {"mean", ScoresJson(scores.mean)},
                                 {"standard_error", ScoresJson(scores.standard_error)},
                                 {"folds", nlohmann::ordered_json::array()}};
  for (const Evaluation& fold : scores.folds) {
    json["folds"].push_back(ScoresJson(fold));
    json["folds"].back()["rows"] = ScoredRows(fold);
  }
  return json;
}

std::string Report(const CvOptions& options, const Dataset& dataset,
                   const std::vector<Split>& splits, const FoldScores& scores) {
  const std::vector<std::string>& classes = dataset.schema().classes;
  const bool numbers = classes.empty();
  FoldScores linear;
  if (numbers) linear = CrossValidateLinear(dataset, splits);
  if (!options.json) {
    if (numbers) return NumbersText(dataset.schema(), scores, linear);
    return HumanScores(scores) + ConfusionText(classes, scores.mean);
  }
  nlohmann::ordered_json json = JsonScores(dataset, scores);
  AddConfusion(classes, scores.mean, &json);
  if (numbers) json["linear"] = ScoresJson(linear.mean);
  if (!scores.of_target.empty()) {
    json["targets"] = TargetsJson(dataset.schema(), scores);
    json["linear_targets"] = TargetsJson(dataset.schema(), linear);
  }
  return JsonText(json, 2) + "\n";
}

// Adds the quantiles behind the other columns, target by target.
void AddQuantiles(const Schema& schema, const std::vector<double>& quantiles,
                  const CrossValidation& result, Table* table) {
  for (const std::string& target : schema.targets) {
    const std::string prefix = schema.targets.size() == 1 ? "" : target + "_";
    for (const double p : quantiles) table->columns.push_back(prefix + QuantileName(p));
  }
  const Index before = table->values.cols();
  table->values.conservativeResize(Eigen::NoChange, before + result.quantiles.cols());
  table->values.rightCols(result.quantiles.cols()) = result.quantiles;
}

// One line per row with a target: its number in the table, its fold, and what was predicted.
void SaveOutOfFold(const std::string& path, const Dataset& dataset, const CrossValidation& result,
                   const std::vector<double>& quantiles) {
  Table table = PredictionTable(result.out_of_fold, dataset.schema(), dataset.targets(),
                                {.log_density = false, .targets = true});
  if (result.quantiles.size() > 0) AddQuantiles(dataset.schema(), quantiles, result, &table);
  table.columns.insert(table.columns.begin(), {"row", "fold"});
  if (!table.levels.empty()) table.levels.insert(table.levels.begin(), 2, {});
  Matrix values(dataset.rows(), table.values.cols() + 2);
  values.rightCols(table.values.cols()) = table.values;
  for (Index n = 0; n < dataset.rows(); ++n) {
    values(n, 0) = static_cast<double>(RowOfTable(dataset, n));
    values(n, 1) = static_cast<double>(result.fold_of_row[static_cast<std::size_t>(n)] + 1);
  }
  std::ostringstream text;
  WriteCsv(text, table.columns, values, table.levels);
  const std::string content = text.str();
  const std::string_view whole = content;
  WriteFileAtomically(path, {&whole, 1});
}

// Shows how far it is, and ends soon after Ctrl-C.
CrossValidation Validate(const Dataset& dataset, const Recipe& recipe,
                         const std::vector<Split>& splits, const std::vector<double>& quantiles) {
  const Interrupts interrupts;
  const Stopwatch watch;
  ProgressBar bar;
  CrossValidationControl control{.quantiles = quantiles};
  control.ranks = &AllRanks();
  control.callback = [&](const CrossValidationProgress& progress) {
    const double left = watch.Seconds() * (1 - progress.fraction) / progress.fraction;
    bar.Show(BarText(progress.fraction) + "  " + std::to_string(progress.folds_done) + " of " +
             std::to_string(splits.size()) + " folds done  " + TimeText(left) + " left");
    return Interrupts::Caught() == 0;
  };
  return CrossValidate(dataset, recipe, splits, control);
}

int TellInterrupted(const CvOptions& options) {
  Complain(
      "interrupted before all folds were done: there are no scores" +
      std::string(options.output.empty() ? "" : ", and " + options.output + " is not written") +
      "; the same command begins anew");
  return 128 + Interrupts::Caught();
}

int RunCompare(const CLI::App& app, const CvOptions& options, const CvData& data,
               const std::vector<Split>& splits) {
  std::vector<ComparedRecipe> compared;
  for (const std::string& words : options.compare) {
    ComparedRecipe& entry = compared.emplace_back(ComparedRecipe{words, {}});
    if (words == "linear") {
      if (data.dataset.schema().has_classes())
        ThrowError("--compare: 'linear' predicts numbers, but the target has classes");
      entry.scores = CrossValidateLinear(data.dataset, splits);
      continue;
    }
    CrossValidation result = Validate(data.dataset, RecipeOf(app, words), splits, {});
    if (result.interrupted) return TellInterrupted(options);
    entry.scores = std::move(result.scores);
  }
  const std::vector<std::string>& targets = data.dataset.schema().targets;
  WriteOut(options.json ? ComparisonJson(compared, targets) : ComparisonText(compared, targets));
  return kGood;
}

int RunCv(const CLI::App& app, CvOptions* options) {
  const Recipe recipe = FinishRecipe(app, &options->recipe);
  const std::vector<double> quantiles = ParseProbabilities("--quantiles", options->quantiles);
  for (std::string& words : options->compare) words.erase(0, words.find_first_not_of(' '));
  // This comes before the table is read: a wrong word must not cost the folds before it.
  for (const std::string& words : options->compare) {
    if (words != "linear") RecipeOf(app, words);
  }
  options->data.task = TaskFor(options->data.task, recipe);
  if (!options->output.empty()) CheckOutput(options->output, {options->data.table});
  const CvData data = ReadCvData(*options, recipe.threads);
  const Dataset& dataset = data.dataset;
  const std::vector<Split> splits = MakeSplits(*options, recipe.seed, data);
  TellNotes(dataset.notes());
  if (!options->compare.empty()) return RunCompare(app, *options, data, splits);
  const CrossValidation result = Validate(dataset, recipe, splits, quantiles);
  if (result.interrupted) return TellInterrupted(*options);
  if (!options->output.empty()) SaveOutOfFold(options->output, dataset, result, quantiles);
  WriteOut(Report(*options, dataset, splits, result.scores));
  return kGood;
}

}  // namespace

Command AddCv(CLI::App* program) {
  CLI::App* app = program->add_subcommand("cv", "Cross-validate a recipe on a table");
  app->footer(kCvExample);
  const auto options = std::make_shared<CvOptions>();
  app->add_option("TRAIN.csv", options->data.table, "Table to learn from; - is standard input")
      ->required()
      ->type_name("");
  AddDataOptions(app, &options->data);
  CLI::Option* folds = app->add_option("--folds", options->folds, "Number of folds")
                           ->check(InRange(2, 1'000'000))
                           ->type_name("K")
                           ->capture_default_str();
  CLI::Option* group =
      app->add_option(
             "--group", options->group,
             "Column whose rows with the same number or text stay in one fold. No input then")
          ->type_name("NAME");
  app->add_option(
         "--fold-column", options->fold_column,
         "Column that says which fold each row is in, by a number or a text. No input then")
      ->excludes(folds)
      ->excludes(group)
      ->type_name("NAME");
  app->add_option("--order", options->order,
                  "Column of times: each fold learns only from rows before those that it predicts. "
                  "Still an input")
      ->excludes(group)
      ->excludes(app->get_option("--fold-column"))
      ->type_name("NAME");
  app->add_option("--test", options->test,
                  "One split instead of folds: this share of the rows is held out, by chance or, "
                  "with --order, the latest")
      ->check(CLI::Range(0.001, 0.999).description(""))
      ->excludes(folds)
      ->excludes(group)
      ->excludes(app->get_option("--fold-column"))
      ->type_name("SHARE");
  CLI::Option* compare =
      app->add_option("--compare", options->compare,
                      "Recipes to compare on the same folds, each as options in quotes: default, "
                      "'--hidden 0', or linear for a linear regression")
          ->expected(1, 100)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->type_name("RECIPE");
  app->add_option("-o,--output", options->output,
                  "File for the prediction of each row by the model that has not seen it")
      ->excludes(compare)
      ->type_name("FILE");
  app->add_option("--quantiles", options->quantiles, "Which quantiles to write to that file")
      ->type_name("P[,P]")
      ->capture_default_str();
  app->add_flag("--json", options->json, "Print all scores as one JSON object");
  AddRecipeOptions(app, &options->recipe);
  return {app, [app, options] { return RunCv(*app, options.get()); }};
}

}  // namespace fathom::cli
