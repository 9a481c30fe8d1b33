// The layout of a model file. In the metadata: "format", "format_version" and "model", a JSON
// description of everything that is no array. The arrays: the parameters by the names that
// Parameters() gives them, the linear means, the scalers.
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/model_tensors.h"
#include "fathom/recipe/json_value.h"
#include "fathom/recipe/recipe_json.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "fathom-model";
// Version 3 had no "wide_share". Version 2 had no classes. Version 1 had no "columns", because all
// were numbers, and sometimes no "data".
constexpr int kFormatVersion = 4;
// A shared layer repeats its pseudo-inputs in memory but not in the file, so that the size of the
// file does not bound them; 2 GB does.
constexpr double kMostSharedNumbers = 1 << 28;

// One list of fields for both directions, as in recipe_json.cc.
template <typename AnySummary, typename Visitor>
void VisitFields(AnySummary& summary, const Visitor& visit) {
  auto& [rows, energy_per_row, reason, message, steps, recoveries, seconds, largest_jitter] =
      summary;
  visit("rows", rows);
  visit("energy_per_row", energy_per_row);
  visit("reason", reason);
  visit("message", message);
  visit("steps", steps);
  visit("recoveries", recoveries);
  visit("seconds", seconds);
  visit("largest_jitter", largest_jitter);
}

const char* FormName(const Posterior& posterior) {
  return std::holds_alternative<Sites>(posterior) ? "sites" : "whitened";
}

std::string MeanWeightsName(std::size_t layer) {
  return "layers." + std::to_string(layer) + ".mean_weights";
}

Json DescribeLayer(const GpLayer& layer) {
  Json functions = Json::array();
  for (const SparseGp& gp : layer.gps) {
    functions.push_back({{"kernel", gp.kernel->Name()},
                         {"posterior", FormName(gp.posterior)},
                         {"inducing", gp.num_inducing()}});
  }
  return {{"inputs", layer.inputs()},
          {"outputs", layer.outputs()},
          {"skip", layer.skip},
          {"shared", layer.shared},
          {"linear_mean", layer.mean_weights.size() > 0},
          {"functions", std::move(functions)}};
}

Json DescribeSchema(const Schema& schema) {
  Json inputs = Json::array();
  for (const InputColumn& input : schema.inputs) {
    inputs.push_back({{"name", input.name}});
    if (!input.levels.empty()) inputs.back()["levels"] = ToJson(input.levels);
  }
  return {{"inputs", std::move(inputs)},
          {"targets", ToJson(schema.targets)},
          {"classes", ToJson(schema.classes)},
          {"weights", schema.weights},
          {"unnamed_columns", schema.unnamed_columns}};
}

Json Describe(const Model& model) {
  Json layers = Json::array();
  for (const GpLayer& layer : model.network.layers) layers.push_back(DescribeLayer(layer));
  Json training = Json::object();
  VisitFields(model.summary,
              [&](const char* name, const auto& value) { training[name] = ToJson(value); });
  Json json = {{"written_by", std::string("fathom ") + FATHOM_VERSION},
               {"likelihood", model.network.likelihood->Name()},
               {"jitter", ToJson(model.network.jitter)},
               {"full_covariance", model.network.full_covariance},
               {"propagation", ToJson(model.network.propagation)},
               {"paths", model.network.num_paths()},
               {"layers", std::move(layers)},
               {"inputs", ToJson(model.input_names)},
               {"targets", ToJson(model.target_names)},
               {"columns", DescribeSchema(model.schema)},
               {"data",
                {{"fingerprint", model.data.fingerprint},
                 {"origin", model.data.origin},
                 {"settings", ToJson(model.data.settings)}}},
               {"recipe", RecipeToJson(model.recipe)},
               {"training", std::move(training)},
               {"share", ToJson(model.share)},
               {"wide_share", ToJson(model.wide_share)},
               {"companions", model.companions.size()}};
  // Older programs refuse the array that comes with it, as they must.
  if (model.input_scaler.directions.size() > 0)
    json["whitened_inputs"] = model.input_scaler.directions.cols();
  return json;
}

// Of the names of a companion's arrays and description.
std::string CompanionPrefix(std::size_t k) { return "companions." + std::to_string(k) + "."; }

// The three arrays of a scaler by their names in the file.
template <typename AnyScaler>
auto ScalerArrays(const std::string& name, AnyScaler& scaler) {
  return std::array{std::pair{name + ".mean", &scaler.mean},
                    std::pair{name + ".scale", &scaler.scale},
                    std::pair{name + ".missing_var", &scaler.missing_var}};
}

constexpr const char* kDirections = "scalers.inputs.directions";

void CheckScaler(const Scaler& scaler, const char* name) {
  const bool finite = scaler.mean.allFinite() && scaler.scale.allFinite() &&
                      scaler.missing_var.allFinite() && scaler.directions.allFinite();
  if (!finite || (scaler.scale.array() <= 0).any() || (scaler.missing_var.array() < 0).any())
    ThrowError("the scaler of the ", name, " holds a number that is not finite or out of range;",
               " make the file anew");
}

void CheckNames(const std::vector<std::string>& inputs, const std::vector<std::string>& targets) {
  std::set<std::string> seen;
  for (const auto* names : {&inputs, &targets}) {
    for (const std::string& name : *names) {
      if (!seen.insert(name).second) ThrowError("column ", Quoted(name), " is named twice");
    }
  }
}

// Everything that must hold beyond what Describe and the shapes of the arrays express.
void CheckWhole(const Model& model) {
  CheckModel(model.network);
  CheckScaler(model.input_scaler, "inputs");
  CheckScaler(model.target_scaler, "targets");
  CheckNames(model.input_names, model.target_names);
  if (model.schema.FeatureNames() != model.input_names ||
      model.schema.targets != model.target_names)
    ThrowError("its columns are not those of its inputs and targets");
  const Likelihood& likelihood = *model.network.likelihood;
  const std::vector<std::string>& classes = model.schema.classes;
  if (std::set(classes.begin(), classes.end()).size() != classes.size())
    ThrowError("a class is named twice");
  const auto require = [](Index size, Index needed, const char* what) {
    if (size != needed) ThrowError("there are ", size, " ", what, " where ", needed, " are needed");
  };
  const Index inputs = model.network.input_dim();
  const Index targets = likelihood.NumTargets(model.network.outputs());
  require(model.input_scaler.outputs(), inputs, "inputs of the first layer");
  require(static_cast<Index>(model.target_names.size()), targets, "target columns");
  require(static_cast<Index>(classes.size()), likelihood.NumClasses(model.network.outputs()),
          "classes");
  require(model.input_scaler.mean.size(), static_cast<Index>(model.input_names.size()),
          "scaled inputs");
  require(model.target_scaler.mean.size(), targets, "scaled targets");
  for (const Model& companion : model.companions) {
    if (!companion.companions.empty() || companion.input_names != model.input_names ||
        companion.target_names != model.target_names ||
        companion.schema.classes != model.schema.classes ||
        companion.network.likelihood->Name() != likelihood.Name())
      ThrowError("a companion of its network is for another table");
  }
  for (const double share : {model.share, model.wide_share}) {
    if (!(share >= 0 && share <= 1))
      ThrowError("the share of a network is ", share, ", not between 0 and 1");
  }
  if (model.share + model.wide_share == 0) ThrowError("a network has no share in the stack");
  if (model.wide_share > 0 && likelihood.Name() != "gaussian")
    ThrowError("it has a wide_share, which is for Gaussian noise, but its likelihood is ",
               Quoted(likelihood.Name()));
}

// Builds a model from what a file holds. Nothing is allocated but for arrays that the file has.
class Builder {
 public:
  explicit Builder(SafeTensors* content) : content_(*content) {}

  Model Build() {
    const Json description = ReadDescription();
    Model model;
    Read(description, "likelihood", &likelihood_);
    Read(description, "jitter", &model.network.jitter);
    if (description.contains("full_covariance"))
      Read(description, "full_covariance", &model.network.full_covariance);
    Read(description, "inputs", &model.input_names);
    Read(description, "targets", &model.target_names);
    model.schema = description.contains("columns")
                       ? ReadSchema(Field(description, "columns", Json::value_t::object))
                       : NumericSchema(model.input_names, model.target_names);
    model.recipe.stack = Stacking::kNever;  // what files say that know of no stacks
    UpdateRecipe(Field(description, "recipe", Json::value_t::object), &model.recipe);
    if (description.contains("data")) {
      const Json& data = Field(description, "data", Json::value_t::object);
      Read(data, "fingerprint", &model.data.fingerprint);
      Read(data, "origin", &model.data.origin);
      if (data.contains("settings")) Read(data, "settings", &model.data.settings);
    }
    const Json& training = Field(description, "training", Json::value_t::object);
    VisitFields(model.summary,
                [&](const char* name, auto& value) { Read(training, name, &value); });
    for (const Json& layer : Field(description, "layers", Json::value_t::array)) {
      const std::size_t number = model.network.layers.size();
      model.network.layers.push_back(ReadLayer(layer, number));
    }
    ReadNoise(&model.network);
    ReadPaths(description, &model.network);
    for (const auto& [name, array] : ScalerArrays("scalers.inputs", model.input_scaler))
      *array = TakeVector(name, static_cast<Index>(model.input_names.size()));
    if (description.contains("whitened_inputs")) {
      Index directions = 0;
      Read(description, "whitened_inputs", &directions);
      model.input_scaler.directions =
          TakeMatrix(kDirections, static_cast<Index>(model.input_names.size()), directions);
    }
    for (const auto& [name, array] : ScalerArrays("scalers.targets", model.target_scaler))
      *array = TakeVector(name, static_cast<Index>(model.target_names.size()));
    if (description.contains("share")) Read(description, "share", &model.share);
    if (description.contains("wide_share")) Read(description, "wide_share", &model.wide_share);
    if (description.contains("companions")) {
      Index companions = 0;
      Read(description, "companions", &companions);
      for (Index k = 0; k < companions; ++k) model.companions.push_back(BuildCompanion(k));
    }
    CheckWhole(model);
    return model;
  }

 private:
  // The part of the file whose names begin with the companion's prefix is a model by itself.
  Model BuildCompanion(Index k) {
    const std::string prefix = CompanionPrefix(static_cast<std::size_t>(k));
    SafeTensors part;
    part.metadata = {{"format", kFormat},
                     {"format_version", Metadata("format_version")},
                     {"model", Metadata(prefix + "model")}};
    for (auto entry = content_.tensors.begin(); entry != content_.tensors.end();) {
      if (entry->first.starts_with(prefix)) {
        part.tensors[entry->first.substr(prefix.size())] = std::move(entry->second);
        entry = content_.tensors.erase(entry);
      } else {
        ++entry;
      }
    }
    Model companion = Builder(&part).Build();
    RequireNothingLeft(part);
    return companion;
  }

  const std::string& Metadata(const std::string& key) const {
    const auto found = content_.metadata.find(key);
    if (found == content_.metadata.end()) ThrowError("its metadata have no ", Quoted(key));
    return found->second;
  }

  Json ReadDescription() const {
    const auto format = content_.metadata.find("format");
    if (format == content_.metadata.end() || format->second != kFormat)
      ThrowError(
          "it holds arrays, but not those of a fathom model; name a file that 'fathom fit' made");
    const std::string& version = Metadata("format_version");
    const bool is_number =
        !version.empty() && version.find_first_not_of("0123456789") == std::string::npos;
    if (version != std::to_string(kFormatVersion) && version != "3" && version != "2" &&
        version != "1") {
      if (is_number && version != "0")
        ThrowError("written by a newer fathom (format ", version.substr(0, 20),
                   "); this one reads format ", kFormatVersion, ": upgrade");
      ThrowError("its format version is ", Quoted(version));
    }
    const auto shallow = [](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
      if (depth > 10) ThrowError("its description is nested too deeply");
      return true;
    };
    try {
      return Json::parse(Metadata("model"), shallow);
    } catch (const Json::exception&) {
      ThrowError("its description is not JSON");
    }
  }

  static const Json& Field(const Json& json, const char* key) {
    if (!json.is_object() || !json.contains(key))
      ThrowError("its description has no ", Quoted(key));
    return json[key];
  }
  static const Json& Field(const Json& json, const char* key, Json::value_t type) {
    const Json& field = Field(json, key);
    if (field.type() != type) ThrowError("its description has no usable ", Quoted(key));
    return field;
  }
  template <typename Value>
  static void Read(const Json& json, const char* key, Value* value) {
    FromJson(Field(json, key), key, value);
  }

  static Schema ReadSchema(const Json& json) {
    Schema schema;
    for (const Json& entry : Field(json, "inputs", Json::value_t::array)) {
      InputColumn& input = schema.inputs.emplace_back();
      Read(entry, "name", &input.name);
      if (entry.contains("levels")) Read(entry, "levels", &input.levels);
    }
    Read(json, "targets", &schema.targets);
    if (json.contains("classes")) Read(json, "classes", &schema.classes);
    Read(json, "weights", &schema.weights);
    Read(json, "unnamed_columns", &schema.unnamed_columns);
    // Names are made for them, so that a damaged number must not ask for billions.
    if (schema.unnamed_columns < 0 || schema.unnamed_columns > 100'000'000)
      ThrowError("its number of unnamed columns is ", schema.unnamed_columns);
    return schema;
  }
  Vector TakeVector(const std::string& name, Index size) {
    return fathom::TakeVector(name, size, &content_);
  }
  Matrix TakeMatrix(const std::string& name, Index rows, Index cols) {
    const std::vector<double> values = TakeArray(name, {rows, cols}, &content_);
    return Eigen::Map<const Matrix>(values.data(), rows, cols);
  }

  GpLayer ReadLayer(const Json& json, std::size_t number) {
    GpLayer layer;
    Index inputs = 0;
    Index outputs = 0;
    bool linear_mean = false;
    Read(json, "inputs", &inputs);
    Read(json, "outputs", &outputs);
    Read(json, "skip", &layer.skip);
    Read(json, "shared", &layer.shared);
    Read(json, "linear_mean", &linear_mean);
    const Json& functions = Field(json, "functions", Json::value_t::array);
    if (std::cmp_not_equal(functions.size(), outputs) || outputs < 1)
      ThrowError("layer ", number, " has ", functions.size(), " functions and ", outputs,
                 " outputs");
    for (const Json& function : functions) ReadFunction(function, number, inputs, &layer);
    if (linear_mean) layer.mean_weights = TakeMatrix(MeanWeightsName(number), inputs, outputs);
    return layer;
  }

  void ReadFunction(const Json& json, std::size_t layer_number, Index inputs, GpLayer* layer) {
    const std::size_t number = layer->gps.size();
    const std::string name =
        "layers." + std::to_string(layer_number) + ".gps." + std::to_string(number);
    std::string kernel;
    std::string form;
    Index M = 0;
    Read(json, "kernel", &kernel);
    Read(json, "posterior", &form);
    Read(json, "inducing", &M);
    if (M < 1 || inputs < 1) ThrowError("function ", name, " has no pseudo-inputs");

    SparseGp gp;
    gp.kernel = MakeKernel(kernel);
    if (layer->shared && number > 0) {
      const SparseGp& first = layer->gps.front();
      const double numbers = static_cast<double>(number + 1) * static_cast<double>(first.Z.size());
      if (numbers > kMostSharedNumbers)
        ThrowError("layer ", layer_number, " shares more pseudo-inputs than fathom holds");
      if (M != first.num_inducing() || kernel != first.kernel->Name())
        ThrowError("the functions of layer ", layer_number, " are said to be shared but differ");
      gp.theta = first.theta;
      gp.Z = first.Z;
    } else {
      gp.Z = TakeMatrix(name + ".Z", M, inputs);
      gp.theta = TakeVector(name + ".theta", gp.kernel->NumParameters(inputs));
    }
    if (form == "sites") {
      gp.posterior = Sites{TakeVector(name + ".sites.h", M), TakeMatrix(name + ".sites.R", M, M)};
    } else if (form == "whitened") {
      gp.posterior = Whitened{TakeVector(name + ".whitened.mu", M),
                              TakeMatrix(name + ".whitened.Delta", M, M)};
    } else {
      ThrowError("posterior form ", Quoted(form), " is not known");
    }
    layer->gps.push_back(std::move(gp));
  }

  // Files without these fields are of models that propagate moments.
  void ReadPaths(const Json& json, DeepGp* network) {
    if (!json.contains("propagation")) return;
    Index paths = 0;
    Read(json, "propagation", &network->propagation);
    Read(json, "paths", &paths);
    if (network->propagation == Propagation::kPoints) {
      network->points = TakeMatrix("paths.points", paths, network->num_hidden_units());
      network->point_weights = TakeVector("paths.weights", paths);
    } else {
      network->samples = paths;
    }
  }

  void ReadNoise(DeepGp* network) {
    if (network->layers.empty()) ThrowError("the model has no layers");
    for (std::size_t l = 0; l + 1 < network->layers.size(); ++l) {
      network->layers[l].noise_variance = TakeVector(
          "layers." + std::to_string(l) + ".noise_variance", network->layers[l].outputs());
    }
    network->likelihood = MakeLikelihood(likelihood_);
    const Index parameters = network->likelihood->NumParameters(network->outputs());
    if (parameters > 0)
      network->likelihood_parameters = TakeVector("likelihood.parameters", parameters);
  }

  SafeTensors& content_;
  std::string likelihood_;
};

}  // namespace

SafeTensors ModelToTensors(const Model& model) {
  SafeTensors content;
  CheckWhole(model);
  try {
    content.metadata = {{"format", kFormat},
                        {"format_version", std::to_string(kFormatVersion)},
                        {"model", Describe(model).dump()}};
  } catch (const Json::exception&) {
    ThrowError("the name of a column or file is not UTF-8");
  }
  DeepGp network = model.network;  // Parameters() hands out writable arrays
  for (const ParameterArray& array : Parameters(&network))
    content.tensors[array.name] = ToTensor(array.shape, array.data);
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const Matrix& weights = network.layers[l].mean_weights;
    if (weights.size() == 0) continue;
    content.tensors[MeanWeightsName(l)] =
        ToTensor({weights.rows(), weights.cols()}, weights.data());
  }
  for (const auto& [name, array] : ScalerArrays("scalers.inputs", model.input_scaler))
    content.tensors[name] = ToTensor(*array);
  for (const auto& [name, array] : ScalerArrays("scalers.targets", model.target_scaler))
    content.tensors[name] = ToTensor(*array);
  const Matrix& directions = model.input_scaler.directions;
  if (directions.size() > 0)
    content.tensors[kDirections] =
        ToTensor({directions.rows(), directions.cols()}, directions.data());
  for (std::size_t k = 0; k < model.companions.size(); ++k) {
    SafeTensors part = ModelToTensors(model.companions[k]);
    const std::string prefix = CompanionPrefix(k);
    content.metadata[prefix + "model"] = part.metadata["model"];
    for (auto& [name, tensor] : part.tensors) content.tensors[prefix + name] = std::move(tensor);
  }
  return content;
}

Model TakeModel(SafeTensors* content) { return Builder(content).Build(); }

void SaveModel(const Model& model, const std::string& path) {
  SafeTensors content;
  try {
    content = ModelToTensors(model);
  } catch (const Error& error) {
    ThrowError(path, ": cannot write the model: ", error.what());
  }
  WriteSafeTensors(path, content);
}

Model LoadModel(const std::string& path) {
  SafeTensors content = ReadSafeTensors(path);
  try {
    Model model = TakeModel(&content);
    std::erase_if(content.tensors,
                  [](const auto& entry) { return entry.first.starts_with(kOptimizerPrefix); });
    RequireNothingLeft(content);
    return model;
  } catch (const Error& error) {
    ThrowError(path, ": is not a usable model: ", error.what());
  }
}

}  // namespace fathom
