#include "fathom/fitted/model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/expert.h"

namespace fathom {

namespace {

void CheckSchema(const Schema& schema) {
  std::set<std::string> seen;
  for (const auto& names : {schema.FeatureNames(), schema.targets}) {
    for (const std::string& name : names) {
      if (!seen.insert(name).second) ThrowError("column ", Quoted(name), " is named twice");
    }
  }
  const std::vector<std::string>& classes = schema.classes;
  if (std::set(classes.begin(), classes.end()).size() != classes.size())
    ThrowError("a class is named twice");
}

void CheckScaler(const Scaler& scaler, const char* name) {
  const bool finite = scaler.mean.allFinite() && scaler.scale.allFinite() &&
                      scaler.missing_var.allFinite() && scaler.directions.allFinite();
  CheckWarps(scaler.warps, scaler.mean.size());
  if (scaler.warps.size() > 0 && scaler.directions.size() > 0)
    ThrowError("the ", name, " are both whitened and warped; make the file anew");
  if (!finite || (scaler.scale.array() <= 0).any() || (scaler.missing_var.array() < 0).any())
    ThrowError("the scaler of the ", name, " holds a number that is not finite or out of range;",
               " make the file anew");
}

void RequireSize(Index size, Index needed, const char* what) {
  if (size != needed) ThrowError("there are ", size, " ", what, " where ", needed, " are needed");
}

// Checks what the members with one expert have in common.
void CheckExpert(const Member& first, const Schema& schema) {
  const Expert& expert = *first.expert;
  const Likelihood& likelihood = expert.likelihood();
  expert.Check();
  CheckScaler(first.input_scaler, "inputs");
  CheckScaler(first.target_scaler, "targets");
  const Index targets = likelihood.NumTargets(expert.num_outputs());
  const Index trends = first.trend.empty() ? 0 : targets;
  RequireSize(first.input_scaler.outputs() + trends, expert.num_inputs(), "inputs of an expert");
  RequireSize(static_cast<Index>(schema.targets.size()), targets, "target columns");
  RequireSize(static_cast<Index>(schema.classes.size()),
              likelihood.NumClasses(expert.num_outputs()), "classes");
  RequireSize(first.input_scaler.mean.size(), schema.width(), "scaled inputs");
  RequireSize(first.target_scaler.mean.size(), targets, "scaled targets");
}

void CheckMember(const Member& member, const Member& first) {
  if (!(member.weight >= 0 && member.weight <= 1))
    ThrowError("the weight of a member is ", member.weight, ", not from 0 to 1");
  if (!(member.noise_scale > 0 && std::isfinite(member.noise_scale)))
    ThrowError("the noise scale of a member is ", member.noise_scale, ", not positive");
  if (member.noise_scale != 1 && member.expert->NoiseVariance().size() == 0)
    ThrowError("a member multiplies its noise, but the likelihood ",
               Quoted(member.expert->likelihood().Name()), " adds no Gaussian noise");
  if (member.trend != first.trend) ThrowError("two members share an expert but not its trend");
  if (!(member.input_scaler == first.input_scaler && member.target_scaler == first.target_scaler))
    ThrowError("two members share an expert but not its scalers");
}

// Each builds on members before it, so that one way through them finds all means.
void CheckTrends(const std::vector<Member>& members) {
  std::set<std::size_t> used;
  for (std::size_t k = 0; k < members.size(); ++k) {
    for (const std::size_t trend : members[k].trend) {
      if (trend >= k) ThrowError("a member builds on one that does not come before it");
      used.insert(trend);
    }
  }
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (members[k].weight == 0 && !used.contains(k))
      ThrowError("a member has the weight 0 and nothing builds on it");
  }
}

void CheckRange(const InputRange& range, Index width) {
  if (!range.known()) return;
  RequireSize(range.low.size(), width, "ranges of inputs");
  for (Index c = 0; c < width; ++c) {
    const bool missing = std::isnan(range.low[c]) && std::isnan(range.high[c]);
    if (!missing && !(range.low[c] <= range.high[c])) ThrowError("the range of an input is empty");
  }
}

void CheckParts(const ModelParts& parts) {
  CheckSchema(parts.schema);
  const std::vector<Member>& members = parts.members;
  if (members.empty()) ThrowError("the model has no members");
  for (const Member& member : members) {
    if (member.expert == nullptr) ThrowError("a member has no expert");
  }
  // Their predictions are mixed, so they must be of the same kind.
  const std::string likelihood = members.front().expert->likelihood().Name();
  for (const auto& group : ByExpert(members)) {
    CheckExpert(group.front(), parts.schema);
    for (const Member& member : group) CheckMember(member, group.front());
    const std::string other = group.front().expert->likelihood().Name();
    if (other != likelihood)
      ThrowError("its members have the likelihoods ", Quoted(likelihood), " and ", Quoted(other),
                 ", where one is needed");
  }
  CheckTrends(members);
  const bool builds_on = std::any_of(members.begin(), members.end(),
                                     [](const Member& member) { return !member.trend.empty(); });
  if (!parts.schema.classes.empty() && (parts.calibration != nullptr || builds_on))
    ThrowError("classes have neither a calibration nor members that build on others");
  CheckRange(parts.data.range, parts.schema.width());
  if (parts.calibration != nullptr) {
    CheckCalibration(*parts.calibration, parts.schema.width(),
                     static_cast<Index>(parts.schema.targets.size()));
    if (parts.calibration->beyond != nullptr && !parts.data.range.known())
      ThrowError("it goes beyond a range of inputs that it does not know");
  }
  constexpr double kRounding = 1e-6;
  const double sum = WeightOf(members);
  if (std::abs(sum - 1) > kRounding)
    ThrowError("the weights of its members sum to ", sum, ", not to 1");
}

}  // namespace

Model::Model(ModelParts parts) {
  CheckParts(parts);
  parts_ = std::make_shared<const ModelParts>(std::move(parts));
}

}  // namespace fathom
