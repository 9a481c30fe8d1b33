#include "fathom/fitted/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <utility>

#include "fathom/base/option_text.h"
#include "fathom/base/text.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/describe.h"
#include "fathom/fitted/expert.h"
#include "fathom/fitted/relevance.h"
#include "fathom/io/json_text.h"
#include "fathom/io/json_value.h"

namespace fathom {

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

std::string HowItPasses(const Member& member) {
  const DeepGp* network = FindNetwork(member);
  return network == nullptr ? "" : DescribePropagation(*network);
}

// "counts from 0 to 17, 62 % zeros; predicted as ..." for each target.
std::vector<std::string> TargetLines(const Model& model) {
  std::vector<std::string> lines = model.natures();
  if (lines.size() == 1 && model.calibration() != nullptr) {
    const std::string how = Describe(model.calibration()->shape);
    if (!how.empty()) lines[0] += "; " + how;
  }
  return lines;
}

// What was checked on rows that were left out; null where nothing was.
nlohmann::ordered_json LeftOutJson(const Model& model) {
  if (model.calibration() == nullptr) return nullptr;
  const HeldOutCheck& check = model.calibration()->check;
  return {{"rows", check.rows},
          {"coverage_95", ToJson(check.coverage_95)},
          {"mean_log_likelihood", ToJson(check.log_likelihood)},
          {"rmse", ToJson(check.rmse)}};
}

}  // namespace

nlohmann::ordered_json NotesJson(const std::vector<Note>& notes) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Note& note : notes)
    json.push_back({{"kind", note.kind}, {"count", note.count}, {"text", note.text}});
  return json;
}

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
                     {"kind", member.expert->Kind()},
                     {"architecture", member.expert->Describe()},
                     {"propagation", HowItPasses(member)},
                     {"builds_on", member.trend},
                     {"noise_std", by_target(NoiseStd(member))}});
  }
  nlohmann::ordered_json json = {
      {"model", path},
      {"rows", summary.rows},
      {"dropped_rows", dataset == nullptr ? 0 : dataset->dropped_rows()},
      {"inputs", schema.FeatureNames()},
      {"targets", schema.targets},
      {"target_natures", TargetLines(model)},
      {"classes", schema.classes},
      {"likelihood", leader.expert->likelihood().Name()},
      {"likelihood_parameters", LikelihoodParameters(leader)},
      {"notes", NotesJson(dataset == nullptr ? std::vector<Note>() : dataset->notes())},
      {"constant_columns", ConstantColumns(model)},
      {"hidden", leader.recipe.architecture.hidden},
      {"architecture", leader.expert->Describe()},
      {"stack", stack},
      {"left_out", LeftOutJson(model)},
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

// "5 x 8 inputs -> ..., moments": members that stand side by side and differ in nothing that is
// shown are counted.
std::string StackLines(const Model& model) {
  const std::vector<Member>& members = model.members();
  if (members.size() == 1) return {};
  const auto describe = [](const Member& member) {
    std::string text = member.expert->Describe();
    if (const std::string how = HowItPasses(member); !how.empty()) text += ", " + how;
    if (!member.trend.empty()) text += ", on what the lines above leave over";
    return text;
  };
  std::ostringstream text;
  for (std::size_t k = 0; k < members.size();) {
    const std::string what = describe(members[k]);
    std::size_t end = k;
    double weight = 0;
    for (; end < members.size() && describe(members[end]) == what; ++end)
      weight += members[end].weight;
    text << "stack       " << std::fixed << std::setprecision(3) << weight << " of ";
    if (end - k > 1) text << end - k << " x ";
    text << what;
    const Vector noise_std = NoiseStd(members[k]);
    if (end - k == 1 && noise_std.size() == 1 && model.calibration() == nullptr)
      text << ", noise " << std::defaultfloat << std::setprecision(3) << noise_std[0];
    text << "\n";
    k = end;
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
      text +=
          "  " + name + " = " + (value.is_number_float() ? Short(value) : JsonText(value)) + "\n";
    }
  }
  return text;
}

}  // namespace

// What rows that were left out say of the whole.
std::string DescribeCheck(const Model& model) {
  if (model.calibration() == nullptr) return {};
  const HeldOutCheck& check = model.calibration()->check;
  std::ostringstream text;
  // A specialist is judged by one fold.
  const char* in_turn = check.rows < model.summary().rows ? "" : " in turn";
  text << "on " << check.rows << " rows left out" << in_turn << ": the 95 % interval covers "
       << std::fixed << std::setprecision(1) << 100 * check.coverage_95 << " %, RMSE "
       << Short(check.rmse) << ", log likelihood " << Short(check.log_likelihood);
  return text.str();
}

RelevanceTable DescribeRelevance(const Model& model) {
  const Relevance relevance = FindRelevance(model);
  const Vector largest = relevance.share.colwise().maxCoeff();
  std::vector<Index> order(static_cast<std::size_t>(largest.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return largest[a] > largest[b]; });
  RelevanceTable table{{"input", "lengthscale"}, {}, largest(order)};
  const std::vector<std::string> inputs = model.schema().FeatureNames();
  const bool one = model.schema().targets.size() == 1;
  for (const std::string& target : model.schema().targets)
    table.header.push_back(one ? "relevance" : "relevance to " + target);
  for (const Index c : order) {
    const double length = relevance.lengthscale[c];
    std::vector<std::string> row = {inputs[static_cast<std::size_t>(c)],
                                    std::isfinite(length) && length != 0 ? Short(length) : "-"};
    for (Index t = 0; t < relevance.share.rows(); ++t) {
      char share[16];
      std::snprintf(share, sizeof(share), "%.3f", relevance.share(t, c));
      row.emplace_back(share);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

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
  text << "\n";
  const std::vector<std::string> natures = TargetLines(model);
  for (std::size_t t = 0; t < natures.size(); ++t) {
    text << "target      " << (natures.size() > 1 ? model.schema().targets[t] + ": " : "")
         << natures[t] << "\n";
  }
  if (model.members().size() == 1)
    text << std::left << std::setw(12) << expert.Heading() << expert.Describe() << "\n";
  text << StackLines(model);
  text << "training    " << summary.steps << " steps in " << std::fixed << std::setprecision(1)
       << summary.seconds << " s: " << summary.message;
  if (summary.recoveries > 0) text << " (" << summary.recoveries << " recoveries)";
  text << "\n" << FindingLines(expert.Findings());
  if (model.members().size() == 1 && FindNetwork(model.leader()) != nullptr) {
    text << "energy      " << Short(summary.energy_per_row)
         << " per row, the objective of the training; larger is better\n";
  }
  if (const std::string likelihood = DescribeLikelihood(model.leader()); !likelihood.empty())
    text << "likelihood  " << likelihood << "\n";
  if (const std::string check = DescribeCheck(model); !check.empty())
    text << "checked     " << check << "\n";
  const Vector noise = model.calibration() == nullptr ? NoiseStd(model.leader()) : Vector();
  for (Index t = 0; t < noise.size(); ++t) {
    text << "noise std   " << Short(noise[t]) << " of " << model.schema().targets[t] << "\n";
  }
  text << "model       " << path << "\n";
  return text.str();
}

}  // namespace fathom
