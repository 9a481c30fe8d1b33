#include "cli/report.h"

#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/common.h"
#include "cli/data_options.h"
#include "fathom/base/text.h"
#include "fathom/fitted/describe.h"
#include "fathom/recipe/json_value.h"

namespace fathom::cli {

namespace {

// Values by name, one for each output.
nlohmann::ordered_json LikelihoodParameters(const DeepGp& network) {
  const std::vector<std::string> names = network.likelihood->ParameterNames();
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
  const Index each =
      names.empty() ? 0 : network.likelihood_parameters.size() / static_cast<Index>(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (Index d = 0; d < each; ++d) {
      const double value = network.likelihood_parameters[static_cast<Index>(i) * each + d];
      parameters[names[i]].push_back(value);
    }
  }
  return parameters;
}

// "student_t: squared_scale 0.02, ..."; empty for the one that needs no words.
std::string DescribeLikelihood(const DeepGp& network) {
  if (network.likelihood->Name() == "gaussian") return {};
  std::string text = network.likelihood->Name();
  const char* separator = ": ";
  const nlohmann::ordered_json parameters = LikelihoodParameters(network);
  for (const auto& [name, values] : parameters.items()) {
    text += separator + name;
    for (const auto& value : values) text += " " + Short(value.get<double>());
    separator = ", ";
  }
  return text;
}

// What a model mixes: its networks, and some of them once more under more noise.
struct Member {
  const Model& model;
  double share;
  Vector noise_std;
};

std::vector<Member> Members(const Model& stack) {
  std::vector<Member> members;
  double sum = 0;  // in a checkpoint, each share is still 1
  for (const Model* model : NetworksOf(stack)) sum += model->share + model->wide_share;
  for (const Model* model : NetworksOf(stack)) {
    const Vector noise = NoiseStd(*model);
    if (model->share > 0) members.push_back({*model, model->share / sum, noise});
    if (model->wide_share > 0)
      members.push_back({*model, model->wide_share / sum, std::sqrt(kWideNoise) * noise});
  }
  return members;
}

}  // namespace

nlohmann::ordered_json JsonReport(const std::string& path, const Dataset& dataset,
                                  const Model& model) {
  const TrainingSummary& summary = model.summary;
  const auto by_target = [&](const Vector& values) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (Index t = 0; t < values.size(); ++t) json[model.target_names[t]] = ToJson(values[t]);
    return json;
  };
  nlohmann::ordered_json stack = nlohmann::ordered_json::array();
  for (const Member& member : Members(model)) {
    stack.push_back({{"share", ToJson(member.share)},
                     {"architecture", DescribeNetwork(member.model.network)},
                     {"propagation", DescribePropagation(member.model.network)},
                     {"noise_std", by_target(member.noise_std)}});
  }
  return {{"model", path},
          {"rows", summary.rows},
          {"dropped_rows", dataset.dropped_rows},
          {"inputs", model.input_names},
          {"targets", model.target_names},
          {"classes", model.schema.classes},
          {"likelihood", model.network.likelihood->Name()},
          {"likelihood_parameters", LikelihoodParameters(model.network)},
          {"notes", NotesJson(dataset.notes)},
          {"constant_columns", ConstantColumns(model)},
          {"hidden", model.recipe.architecture.hidden},
          {"architecture", DescribeNetwork(model.network)},
          {"stack", stack},
          {"steps", summary.steps},
          {"seconds", ToJson(summary.seconds)},
          {"reason", ToJson(summary.reason)},
          {"message", summary.message},
          {"energy_per_row", ToJson(summary.energy_per_row)},
          {"noise_std", by_target(NoiseStd(model))},
          {"recoveries", summary.recoveries},
          {"largest_jitter", ToJson(summary.largest_jitter)}};
}

namespace {

// The networks of a stack with their shares; nothing of one that stands alone.
std::string StackLines(const Model& model) {
  const std::vector<Member> members = Members(model);
  if (members.size() == 1) return {};
  std::ostringstream text;
  for (const Member& member : members) {
    const DeepGp& network = member.model.network;
    text << "stack       " << std::fixed << std::setprecision(3) << member.share << " of "
         << DescribeNetwork(network) << ", " << DescribePropagation(network);
    if (member.noise_std.size() == 1)
      text << ", noise " << std::defaultfloat << std::setprecision(3) << member.noise_std[0];
    text << "\n";
  }
  return text.str();
}

}  // namespace

std::string HumanReport(const std::string& path, const Dataset& dataset, const Model& model) {
  const TrainingSummary& summary = model.summary;
  std::ostringstream text;
  text << "rows        " << summary.rows;
  if (dataset.dropped_rows > 0) text << " (" << dataset.dropped_rows << " skipped)";
  const std::vector<std::string> constant = ConstantColumns(model);
  if (!constant.empty())
    text << "\nconstant    " << QuotedList(constant) << ": the same in all rows";
  const std::vector<std::string>& classes = model.schema.classes;
  if (!classes.empty()) text << "\nclasses     " << classes.size() << ": " << QuotedList(classes);
  text << "\nnetwork     " << DescribeNetwork(model.network) << "\n" << StackLines(model);
  text << "training    " << summary.steps << " steps in " << std::fixed << std::setprecision(1)
       << summary.seconds << " s: " << summary.message;
  if (summary.recoveries > 0) text << " (" << summary.recoveries << " recoveries)";
  text << "\nenergy      " << Short(summary.energy_per_row) << " per row\n";
  if (const std::string likelihood = DescribeLikelihood(model.network); !likelihood.empty())
    text << "likelihood  " << likelihood << "\n";
  const Vector noise = NoiseStd(model);
  for (Index t = 0; t < noise.size(); ++t) {
    text << "noise std   " << Short(noise[t]) << " of " << model.target_names[t] << "\n";
  }
  text << "model       " << path << "\n";
  return text.str();
}

}  // namespace fathom::cli
