#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/common.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/json_text.h"
#include "study/published.h"
#include "study/results_file.h"
#include "study/study.h"
#include "study/study_report.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kTablesExample =
    "Examples:\n"
    "  fathom tables results/uci\n"
    "  fathom tables results/uci --methods dgp --out ranks                   the default alone "
    "against others\n"
    "  fathom tables results/uci results/uci_grid --out pictures             both side by side\n"
    "  fathom tables results/paper --splits 0-4 --group gps=gp_50,gp_100     some also among "
    "themselves\n\n"
    "Reads DIR/results.jsonl, which 'fathom bench' writes, and prints tables of each score in "
    "Markdown: mean and\nstandard error over splits, average ranks with Friedman's and Nemenyi's "
    "tests, what others have published, worst\nsplits, coverage, time and failures. Writes them "
    "to OUT/tables.md, each table to OUT/SCORE.csv and details.csv, and to\nOUT/SCORE.svg and "
    "OUT/SCORE_ranks.svg a "
    "figure with error bars and a critical-difference diagram.";

constexpr const char* kNameLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

struct TablesOptions {
  std::vector<std::string> folders, methods, groups;
  std::string out, splits;
  bool only_ours = false, json = false;
};

void KeepMethods(const std::vector<std::string>& wanted, std::vector<UnitRecord>* records) {
  if (wanted.empty()) return;
  std::set<std::string> unique;
  for (const UnitRecord& record : *records) unique.insert(record.method);
  const std::vector<std::string> known(unique.begin(), unique.end());
  for (const std::string& name : wanted) {
    if (!unique.contains(name))
      ThrowError("--methods: there are no results of ", Quoted(name), DidYouMean(name, known),
                 " the methods are ", QuotedList(known, 50));
  }
  std::erase_if(*records, [&](const UnitRecord& record) {
    return std::count(wanted.begin(), wanted.end(), record.method) == 0;
  });
}

void KeepSplits(const std::string& wanted, std::vector<UnitRecord>* records) {
  if (wanted.empty()) return;
  const std::vector<Index> splits = ParseSplitNumbers("--splits", wanted);
  std::erase_if(*records, [&](const UnitRecord& record) {
    return std::count(splits.begin(), splits.end(), record.split) == 0;
  });
  if (records->empty()) ThrowError("--splits: there are no results of ", Quoted(wanted));
}

// "gps=gp_50,gp_100"
MethodGroup ParseGroup(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool good = !name.empty() && name.find_first_not_of(kNameLetters) == std::string::npos;
  if (equals == std::string::npos || !good || equals + 1 == text.size())
    ThrowError("--group: ", Quoted(text),
               " is no group; write NAME=a,b with a NAME of letters, "
               "digits, - and _");
  return {name, SplitLists({text.substr(equals + 1)})};
}

// Makes the folder if need be; returns the paths of the files.
std::vector<std::string> WriteFiles(const fs::path& folder,
                                    const std::vector<StudyReport::File>& files) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) ThrowError(folder.string(), ": cannot make the folder: ", problem.message());
  std::vector<std::string> written;
  for (const auto& [name, content] : files) {
    written.push_back((folder / name).string());
    const std::string_view whole = content;
    WriteFileAtomically(written.back(), {&whole, 1});
  }
  return written;
}

int RunTables(const TablesOptions& options) {
  for (const std::string& folder : options.folders) {
    std::error_code ignored;
    if (!fs::exists(ResultsPath(folder), ignored) || fs::is_empty(ResultsPath(folder), ignored))
      ThrowError(folder, ": holds no results; run 'fathom bench STUDY --out ", folder, "' first");
  }
  std::vector<UnitRecord> records = ReadAllResults(options.folders);
  KeepMethods(SplitLists(options.methods), &records);
  KeepSplits(options.splits, &records);
  std::vector<MethodGroup> groups;
  for (const std::string& text : options.groups) groups.push_back(ParseGroup(text));
  const StudyReport report = MakeStudyReport(
      records, options.only_ours ? std::vector<PublishedMethod>() : LoadPublished(), groups);
  const std::vector<std::string> files =
      WriteFiles(options.out.empty() ? options.folders.front() : options.out, report.files);
  if (options.json) {
    Json json = {{"files", files}};
    json.update(report.json);
    WriteOut(JsonText(json, 2) + "\n");
  } else {
    WriteOut(report.markdown);
  }
  return kGood;
}

}  // namespace

Command AddTables(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("tables", "Make tables and figures of the results of studies");
  app->footer(kTablesExample);
  const auto options = std::make_shared<TablesOptions>();
  app->add_option("DIR", options->folders, "Folder that 'fathom bench' has written to")
      ->required()
      ->type_name("");
  app->add_option("--out", options->out, "Folder for the files; by default the first DIR")
      ->type_name("DIR");
  app->add_option("--methods", options->methods,
                  "Of ours, only these: several of a kind would take each other's ranks; repeat "
                  "it or give a,b")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("NAME");
  app->add_option("--splits", options->splits, "Only these: 0-4 or 0,3")->type_name("N-N");
  app->add_option("--group", options->groups,
                  "Methods to compare among themselves, too, with tables and figures of their own; "
                  "repeat it for several")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("NAME=a,b");
  app->add_flag("--only-ours", options->only_ours, "Leave out what others have published");
  app->add_flag("--json", options->json, "Print the tables as one JSON object");
  return {app, [options] { return RunTables(*options); }};
}

}  // namespace fathom::cli
