#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/common.h"
#include "fathom/base/error.h"
#include "fathom/fitted/export.h"
#include "fathom/io/atomic_file.h"

namespace fathom::cli {

namespace {

constexpr const char* kExportExample =
    "Examples:\n"
    "  fathom export price.fathom --format json | jq .model.training\n"
    "  fathom export price.fathom --format c -o price.h\n"
    "  cc -std=c99 -O2 main.c -lm        where main.c includes price.h and calls price_predict\n\n"
    "json: everything that the model file holds, numbers in the fewest digits that read back as "
    "the "
    "same bits.\nc: a header without dependencies that predicts means, standard deviations, "
    "quantiles and class probabilities\nas 'fathom predict' does; how to call it stands at its "
    "top.";

struct ExportOptions {
  std::string model, output = "-", format, name;
};

// The prefix of the names in the C header: what --name says, else the name of the file.
std::string HeaderName(const ExportOptions& options) {
  if (!options.name.empty()) return options.name;
  const std::string& file = options.output == "-" ? options.model : options.output;
  return CIdentifier(std::filesystem::path(file).stem().string());
}

int RunExport(const ExportOptions& options) {
  if (options.output != "-") CheckOutput(options.output, {options.model});
  const Model model = LoadModel(options.model);
  const std::string text =
      options.format == "json" ? ExportJson(model) : ExportCHeader(model, HeaderName(options));
  if (options.output == "-") {
    WriteOut(text);
  } else {
    const std::string_view whole = text;
    WriteFileAtomically(options.output, {&whole, 1});
  }
  return kGood;
}

}  // namespace

Command AddExport(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("export", "Write a model as JSON, or as C code that predicts");
  app->footer(kExportExample);
  const auto options = std::make_shared<ExportOptions>();
  app->add_option("MODEL", options->model, "Model that 'fathom fit' has written")
      ->required()
      ->type_name("");
  app->add_option("--format", options->format, "What to write")
      ->required()
      ->check(OneOf({"json", "c"}))
      ->type_name("json|c");
  app->add_option("-o,--output", options->output, "File to write; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app->add_option("--name", options->name,
                  "Prefix of all names in the C header; otherwise taken from the file's name")
      ->type_name("NAME");
  return {app, [options] { return RunExport(*options); }};
}

}  // namespace fathom::cli
