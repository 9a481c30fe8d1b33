#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "cli/align.h"
#include "cli/common.h"
#include "cli/inspect_table.h"
#include "fathom/base/error.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/describe.h"
#include "fathom/fitted/relevance.h"
#include "fathom/fitted/report.h"
#include "fathom/io/json_text.h"
#include "fathom/io/json_value.h"
#include "fathom/io/toml.h"
#include "fathom/recipe/recipe_json.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kInspectExample =
    "Examples:\n"
    "  fathom inspect train.csv --target price        columns, ranges, problems, what fit would "
    "do\n"
    "  fathom inspect price.fathom                    layers, relevance of the inputs, training\n"
    "  fathom inspect price.fathom --json | jq .inputs\n"
    "  fathom inspect price.fathom --config > run.toml && fathom fit --config run.toml\n\n"
    "The lengthscale of an input is the distance, in the units of the file, over which the most "
    "sensitive function\nof the first layer changes; in a stack, of the network with the largest "
    "share. Its "
    "relevance is how strongly\nthe target depends on it, per standard deviation of the input and "
    "relative to the most "
    "relevant one.";

struct InspectOptions {
  std::string file;
  DataOptions data;
  bool json = false, config = false;
};

// A number of this many columns; "-" where there is none.
std::string Cell(double value) { return std::isfinite(value) && value != 0 ? Short(value) : "-"; }

std::string Range(const Eigen::Ref<const Vector>& values) {
  if (values.size() == 0) return "-";
  const std::string low = Cell(values.minCoeff());
  const std::string high = Cell(values.maxCoeff());
  return low == high ? low : low + " .. " + high;
}

std::string RelevanceText(const Model& model) {
  RelevanceTable table = DescribeRelevance(model);
  std::vector<std::vector<std::string>> rows = {std::move(table.header)};
  rows[0].emplace_back("");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    rows.push_back(std::move(table.rows[i]));
    const double largest = table.largest[static_cast<Index>(i)];
    rows.back().emplace_back(static_cast<std::size_t>(std::lround(20 * largest)), '#');
  }
  return Align(rows);
}

std::string LayerTable(const DeepGp& network) {
  std::vector<std::vector<std::string>> rows = {
      {"layer", "inputs", "functions", "pseudo-points", "kernel", "noise std", "lengthscales"}};
  for (Index l = 0; l < network.num_layers(); ++l) {
    const GpLayer& layer = network.layers[l];
    const Matrix lengthscales = Lengthscales(layer);
    rows.push_back({std::to_string(l + 1), std::to_string(layer.inputs()),
                    std::to_string(layer.outputs()), std::to_string(layer.gps[0].num_inducing()),
                    layer.gps[0].kernel->Name(), Range(layer.noise_variance.cwiseSqrt()),
                    Range(lengthscales.reshaped())});
  }
  return Align(rows);
}

// Every field of the recipe on a line of its own, by its dotted name.
void AppendFields(const nlohmann::json& json, const std::string& prefix, std::string* text) {
  if (!json.is_object()) {
    *text += "  " + prefix + " = " + JsonText(json) + "\n";
    return;
  }
  const std::string start = prefix.empty() ? "" : prefix + ".";
  for (const auto& [key, value] : json.items()) AppendFields(value, start + key, text);
}

std::string HumanModel(const InspectOptions& options, const Model& model) {
  std::ostringstream text;
  text << HumanReport(options.file, model, nullptr);
  if (!KnowsRelevance(model)) return text.str();
  text << "\n" << RelevanceText(model);
  if (const DeepGp* network = FindNetwork(model.leader())) {
    text << "\n"
         << LayerTable(*network) << "(in units of standardised columns"
         << (model.members().size() == 1 ? "" : "; of the first network") << ")\n";
  }
  std::string recipe = "\nrecipe\n";
  AppendFields(RecipeToJson(model.recipe()), "", &recipe);
  return text.str() + recipe;
}

template <typename Derived>
Json Numbers(const Eigen::MatrixBase<Derived>& values) {
  Json list = Json::array();
  for (const double value : values.reshaped()) list.push_back(Json(ToJson(value)));
  return list;
}

Json JsonLayer(const GpLayer& layer) {
  Json functions = Json::array();
  const Matrix lengthscales = Lengthscales(layer);
  for (Index d = 0; d < layer.outputs(); ++d) {
    const SparseGp& gp = layer.gps[d];
    Json parameters = Json::object();
    Index place = 0;
    for (const Kernel::Block& block : gp.kernel->Blocks(gp.input_dim())) {
      parameters[block.name] = Numbers(gp.theta.segment(place, block.size));
      place += block.size;
    }
    functions.push_back(Json{{"kernel", gp.kernel->Name()},
                             {"pseudo_points", gp.num_inducing()},
                             {"lengthscales", Numbers(lengthscales.row(d))},
                             {"kernel_parameters", parameters}});
  }
  return {{"inputs", layer.inputs()},
          {"skip_links", layer.skip},
          {"shared", layer.shared},
          {"noise_std", Numbers(layer.noise_variance.cwiseSqrt())},
          {"functions", functions}};
}

// Shows what is known of any model and, for models that `fit` makes, which columns matter.
std::string JsonModel(const InspectOptions& options, const Model& model) {
  if (!KnowsRelevance(model)) {
    Json json = {{"kind", "model"}};
    json.update(JsonReport(options.file, model, nullptr));
    return JsonText(json, 2) + "\n";
  }
  const Relevance relevance = FindRelevance(model);
  Json json = {{"kind", "model"}};
  json.update(JsonReport(options.file, model, nullptr));
  json["inputs"] = Json::array();
  const std::vector<std::string> inputs = model.schema().FeatureNames();
  const std::vector<std::string>& targets = model.schema().targets;
  const Scaler& scaler = model.leader().input_scaler;
  for (std::size_t c = 0; c < inputs.size(); ++c) {
    const auto column = static_cast<Index>(c);
    Json shares = Json::object();
    for (std::size_t t = 0; t < targets.size(); ++t)
      shares[targets[t]] = ToJson(relevance.share(static_cast<Index>(t), column));
    json["inputs"].push_back(Json{{"name", inputs[c]},
                                  {"mean", ToJson(scaler.mean[column])},
                                  {"std", ToJson(scaler.scale[column])},
                                  {"lengthscale", ToJson(relevance.lengthscale[column])},
                                  {"relevance", shares}});
  }
  json["layers"] = Json::array();
  if (const DeepGp* network = FindNetwork(model.leader())) {
    for (const GpLayer& layer : network->layers) json["layers"].push_back(JsonLayer(layer));
  }
  json["recipe"] = RecipeToJson(model.recipe());
  json["settings"] = ToJson(model.data().settings);
  return JsonText(json, 2) + "\n";
}

std::string SettingsOf(const InspectOptions& options, const Model& model) {
  if (model.data().settings.empty())
    ThrowError(options.file, ": was not made by 'fathom fit'; --json shows its recipe");
  std::string text = "# fathom fit --config FILE fits " + options.file + " again.\n";
  for (const auto& [name, values] : model.data().settings) text += TomlLine(name, values);
  return text;
}

int RunInspect(InspectOptions options) {
  // A file with the name of a model counts as one, so that damage to it is reported as such.
  if (!options.file.ends_with(".fathom") && !LooksLikeModel(options.file)) {
    if (options.config) ThrowError("--config: ", options.file, " is no model; leave it out");
    options.data.table = options.file;
    return InspectTable(options.data, options.json);
  }
  const Model model = LoadModel(options.file);
  if (options.config) {
    WriteOut(SettingsOf(options, model));
  } else {
    WriteOut(options.json ? JsonModel(options, model) : HumanModel(options, model));
  }
  return kGood;
}

}  // namespace

Command AddInspect(CLI::App* program) {
  CLI::App* app =
      program->add_subcommand("inspect", "Show what is in a table, or what a model has learnt");
  app->footer(kInspectExample);
  const auto options = std::make_shared<InspectOptions>();
  app->add_option("FILE", options->file,
                  "Table, or model that 'fathom fit' has written; - is standard input")
      ->required()
      ->type_name("");
  AddDataOptions(app, &options->data);
  app->get_option("--target")->required(false);
  app->add_flag("--config", options->config,
                "Print the options of the fit as a file for 'fathom fit --config'");
  app->add_flag("--json", options->json, "Print everything as one JSON object");
  return {app, [options] { return RunInspect(*options); }};
}

}  // namespace fathom::cli
