#include "cli/report.h"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/common.h"
#include "cli/data_options.h"
#include "fathom/base/text.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/describe.h"
#include "fathom/fitted/relevance.h"
#include "fathom/io/json_value.h"

namespace fathom::cli {

namespace {

// Values by name, one for each output; none of experts that are no deep GPs.
nlohmann::ordered_json LikelihoodParameters(const Member& member) {
  if (FindNetwork(member) == nullptr) return nlohmann::ordered_json::object();
  const DeepGp& network = NetworkOf(member);
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
std::string DescribeLikelihood(const Member& member) {
  std::string text = member.expert->likelihood().Name();
  if (text == "gaussian") return {};
  const char* separator = ": ";
  const nlohmann::ordered_json parameters = LikelihoodParameters(member);
  for (const auto& [name, values] : parameters.items()) {
    text += separator + name;
    for (const auto& value : values) text += " " + Short(value.get<double>());
    separator = ", ";
  }
  return text;
}

// How what is uncertain passes between layers, where the expert has a choice.
std::string PropagationOf(const Member& member) {
  const DeepGp* network = FindNetwork(member);
  return network == nullptr ? member.expert->Kind() : DescribePropagation(*network);
}

}  // namespace

nlohmann::ordered_json JsonReport(const std::string& path, const Model& model,
                                  const Dataset* dataset) {
  const TrainingSummary& summary = model.summary();
  const Schema& schema = model.schema();
  const Member& leader = model.leader();
  const auto by_target = [&](const Vector& values) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (Index t = 0; t < values.size(); ++t) json[schema.targets[t]] = ToJson(values[t]);
    return json;
  };
  nlohmann::ordered_json stack = nlohmann::ordered_json::array();
  for (const Member& member : model.members()) {
    stack.push_back({{"share", ToJson(member.weight)},
                     {"architecture", member.expert->Describe()},
                     {"propagation", PropagationOf(member)},
                     {"noise_std", by_target(NoiseStd(member))}});
  }
  nlohmann::ordered_json json = {
      {"model", path},
      {"rows", summary.rows},
      {"dropped_rows", dataset == nullptr ? 0 : dataset->dropped_rows()},
      {"inputs", schema.FeatureNames()},
      {"targets", schema.targets},
      {"classes", schema.classes},
      {"likelihood", leader.expert->likelihood().Name()},
      {"likelihood_parameters", LikelihoodParameters(leader)},
      {"notes", NotesJson(dataset == nullptr ? std::vector<Note>() : dataset->notes())},
      {"constant_columns", ConstantColumns(model)},
      {"hidden", leader.recipe.architecture.hidden},
      {"architecture", leader.expert->Describe()},
      {"stack", stack},
      {"steps", summary.steps},
      {"seconds", ToJson(summary.seconds)},
      {"reason", ToJson(summary.reason)},
      {"message", summary.message},
      {"energy_per_row", ToJson(summary.energy_per_row)},
      {"noise_std", by_target(NoiseStd(leader))},
      {"recoveries", summary.recoveries},
      {"largest_jitter", ToJson(summary.largest_jitter)}};
  if (const nlohmann::json findings = leader.expert->Findings(); !findings.is_null())
    json["findings"] = findings;
  return json;
}

namespace {

// The networks of an ensemble with their shares; nothing of one that stands alone.
std::string StackLines(const Model& model) {
  if (model.members().size() == 1) return {};
  std::ostringstream text;
  for (const Member& member : model.members()) {
    const Vector noise_std = NoiseStd(member);
    text << "stack       " << std::fixed << std::setprecision(3) << member.weight << " of "
         << member.expert->Describe() << ", " << PropagationOf(member);
    if (noise_std.size() == 1)
      text << ", noise " << std::defaultfloat << std::setprecision(3) << noise_std[0];
    text << "\n";
  }
  return text.str();
}

// What the training of an expert has to say about itself; first why it should not be trusted.
std::string FindingLines(const nlohmann::json& findings) {
  if (findings.is_null()) return {};
  std::string text;
  for (const auto& warning : findings["warnings"])
    text += "WARNING     " + warning.get<std::string>() + "\n";
  for (const char* part : {"settings", "diagnostics"}) {
    for (const auto& [name, value] : findings[part].items()) {
      if (value.is_structured() && !value.empty() && value[0].is_structured()) continue;
      text += "  " + name + " = " + (value.is_number_float() ? Short(value) : value.dump()) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string HumanReport(const std::string& path, const Model& model, const Dataset* dataset) {
  const TrainingSummary& summary = model.summary();
  const Expert& expert = *model.leader().expert;
  std::ostringstream text;
  text << "rows        " << summary.rows;
  if (dataset != nullptr && dataset->dropped_rows() > 0)
    text << " (" << dataset->dropped_rows() << " skipped)";
  const std::vector<std::string> constant = ConstantColumns(model);
  if (!constant.empty())
    text << "\nconstant    " << QuotedList(constant) << ": the same in all rows";
  const std::vector<std::string>& classes = model.schema().classes;
  if (!classes.empty()) text << "\nclasses     " << classes.size() << ": " << QuotedList(classes);
  text << "\nnetwork     " << expert.Describe() << "\n" << StackLines(model);
  text << "training    " << summary.steps << " steps in " << std::fixed << std::setprecision(1)
       << summary.seconds << " s: " << summary.message;
  if (summary.recoveries > 0) text << " (" << summary.recoveries << " recoveries)";
  text << "\n" << FindingLines(expert.Findings());
  if (FindNetwork(model.leader()) != nullptr)
    text << "energy      " << Short(summary.energy_per_row) << " per row\n";
  if (const std::string likelihood = DescribeLikelihood(model.leader()); !likelihood.empty())
    text << "likelihood  " << likelihood << "\n";
  const Vector noise = NoiseStd(model.leader());
  for (Index t = 0; t < noise.size(); ++t) {
    text << "noise std   " << Short(noise[t]) << " of " << model.schema().targets[t] << "\n";
  }
  text << "model       " << path << "\n";
  return text.str();
}

}  // namespace fathom::cli
