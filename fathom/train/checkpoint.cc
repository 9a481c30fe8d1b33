#include "fathom/train/checkpoint.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/arrays.h"
#include "fathom/fitted/model_file.h"
#include "fathom/fitted/model_parts_json.h"
#include "fathom/io/json_text.h"
#include "fathom/io/json_value.h"
#include "fathom/model/packing.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

constexpr const char* kOptimizerMetadata = "optimizer";
constexpr const char* kUpdates = "factor_updates";
constexpr const char* kLengthened = "lengthened";  // there if it is

std::string FactorPrefix() { return std::string(kOptimizerPrefix) + "factors."; }

// Calls visit with the name and each of the numbers, for both directions; arrays apart.
template <typename AnyPoint, typename Visitor>
void VisitPoint(const std::string& prefix, AnyPoint& point, const Visitor& visit) {
  auto& [parameters, adam, step, smoothed, best_smoothed, best_step, cool_down_from] = point;
  static_cast<void>(parameters);
  visit(prefix + "updates", adam.updates);
  visit(prefix + "step", step);
  visit(prefix + "smoothed", smoothed);
  visit(prefix + "best_smoothed", best_smoothed);
  visit(prefix + "best_step", best_step);
  visit(prefix + "cool_down_from", cool_down_from);
}

template <typename AnyState, typename AnyPoint, typename Visitor>
void VisitState(AnyState& state, AnyPoint& point, const Visitor& visit) {
  VisitPoint("", point, visit);
  VisitPoint("fallback.", state.fallback, visit);
  visit("first_step", state.first_step);
  visit("rate_scale", state.rate_scale);
  visit("recoveries", state.recoveries);
  visit("seconds", state.seconds);
}

template <typename AnyPoint>
auto Arrays(const std::string& prefix, AnyPoint& point) {
  const std::string name = kOptimizerPrefix + prefix;
  return std::array{std::pair{name + "parameters", &point.parameters},
                    std::pair{name + "first", &point.adam.first},
                    std::pair{name + "second", &point.adam.second}};
}

// What Minimize and Adam take for granted.
void CheckPoint(const MinimizePoint& point, Index first_step) {
  constexpr Index kMostSteps = Index{1} << 52;
  const bool finite = point.parameters.allFinite() && point.adam.first.allFinite() &&
                      point.adam.second.allFinite() && std::isfinite(point.smoothed) &&
                      std::isfinite(point.best_smoothed);
  if (!finite) ThrowError("the optimiser's state has a number that is not finite");
  if ((point.adam.second.array() < 0).any()) ThrowError("a square of the optimiser is negative");
  const bool ordered = first_step >= 0 && point.step >= first_step && point.step <= kMostSteps &&
                       point.best_step >= first_step && point.best_step <= point.step &&
                       point.adam.updates >= 0 && point.adam.updates <= point.step &&
                       point.cool_down_from >= -1 && point.cool_down_from <= point.step;
  if (!ordered) ThrowError("the steps of the optimiser do not fit each other");
}

void CheckState(const MinimizeState& state) {
  CheckPoint(state, state.first_step);
  CheckPoint(state.fallback, state.first_step);
  if (!(state.rate_scale > 0 && state.rate_scale <= 1) || state.recoveries < 0 ||
      !(state.seconds >= 0) || std::isinf(state.seconds)) {
    ThrowError("the optimiser's state is not usable");
  }
}

Json ReadNumbers(const SafeTensors& content) {
  const auto found = content.metadata.find(kOptimizerMetadata);
  if (found == content.metadata.end())
    ThrowError("it is a model without the state of its training");
  Json numbers = ParseDescription(content, kOptimizerMetadata);
  if (!numbers.is_object()) ThrowError("its optimiser's state is not JSON");
  return numbers;
}

MinimizeState TakeState(Index size, SafeTensors* content) {
  const Json numbers = ReadNumbers(*content);
  const ArrayReader arrays(content);
  MinimizeState state;
  MinimizePoint& point = state;
  VisitState(state, point, [&](const std::string& name, auto& value) {
    if (!numbers.contains(name)) ThrowError("its optimiser's state has no ", Quoted(name));
    FromJson(numbers[name], name, &value);
  });
  for (const auto& [name, array] : Arrays("", point)) *array = arrays.TakeVector(name, size);
  for (const auto& [name, array] : Arrays("fallback.", state.fallback))
    *array = arrays.TakeVector(name, size);
  CheckState(state);
  return state;
}

// All arrays of factors; what they must be is the business of the inference.
FactorState TakeFactors(SafeTensors* content) {
  FactorState factors;
  const Json numbers = ReadNumbers(*content);
  if (numbers.contains(kUpdates)) FromJson(numbers[kUpdates], kUpdates, &factors.updates);
  if (factors.updates < 0) ThrowError("the updates of its factors are fewer than none");
  const std::string prefix = FactorPrefix();
  auto& tensors = content->tensors;
  for (auto entry = tensors.lower_bound(prefix);
       entry != tensors.end() && entry->first.starts_with(prefix); entry = tensors.erase(entry)) {
    const Tensor& tensor = entry->second;
    if (tensor.shape.size() != 2) ThrowError("array ", Quoted(entry->first), " is no matrix");
    factors.arrays[entry->first.substr(prefix.size())] =
        Eigen::Map<const Matrix>(tensor.values.data(), static_cast<Index>(tensor.shape[0]),
                                 static_cast<Index>(tensor.shape[1]));
  }
  return factors;
}

}  // namespace

Packing PackingOf(const Recipe& recipe) {
  return {recipe.noise_floor, recipe.inference == Inference::kAep};
}

namespace {

// The networks of the checkpoint as a model, in which each counts alike.
Model ModelSoFar(const Checkpoint& checkpoint) {
  ModelParts parts{.schema = checkpoint.schema,
                   .members = checkpoint.done,
                   .recipe = checkpoint.asked,
                   .summary = checkpoint.network.summary,
                   .data = checkpoint.data};
  parts.members.push_back(ToMember(checkpoint.network));
  for (Member& member : parts.members)
    member.weight = 1 / static_cast<double>(parts.members.size());
  return Model(std::move(parts));
}

// Sets all but the state of the optimiser.
void TakeNetworks(SafeTensors* content, Checkpoint* checkpoint) {
  const Model model = TakeModel(content);
  checkpoint->schema = model.schema();
  checkpoint->data = model.data();
  checkpoint->asked = model.recipe();
  checkpoint->done = model.members();
  // Up to format 4 the network in training came first.
  auto& done = checkpoint->done;
  const auto in_training = FormatOf(*content) < 5 ? done.begin() : done.end() - 1;
  checkpoint->network = FromMember(*in_training);
  done.erase(in_training);
  for (Member& member : done) {
    if (member.noise_scale != 1)
      ThrowError("a network that was trained has more noise than its own");
    member.weight = 1;
  }
}

SafeTensors CheckpointToTensors(const Checkpoint& checkpoint, const std::string& path) {
  SafeTensors content;
  const MinimizeState& state = checkpoint.state;
  const MinimizePoint& point = state;
  try {
    content = ModelToTensors(ModelSoFar(checkpoint));
    CheckState(state);
  } catch (const Error& error) {
    ThrowError(path, ": cannot write the checkpoint: ", error.what());
  }
  Json numbers = Json::object();
  VisitState(state, point,
             [&](const std::string& name, const auto& value) { numbers[name] = ToJson(value); });
  if (!checkpoint.factors.arrays.empty()) numbers[kUpdates] = checkpoint.factors.updates;
  if (checkpoint.lengthened) numbers[kLengthened] = true;
  content.metadata[kOptimizerMetadata] = JsonText(numbers);
  const ArrayWriter arrays(&content);
  for (const auto& [name, array] : checkpoint.factors.arrays)
    arrays.Write(FactorPrefix() + name, array);
  for (const auto& [name, array] : Arrays("", point)) arrays.Write(name, *array);
  for (const auto& [name, array] : Arrays("fallback.", state.fallback)) arrays.Write(name, *array);
  return content;
}

Checkpoint TakeCheckpoint(SafeTensors content, const std::string& path) {
  try {
    Checkpoint checkpoint;
    TakeNetworks(&content, &checkpoint);
    const Recipe& recipe = checkpoint.network.recipe;
    CheckRecipe(recipe);
    checkpoint.lengthened = ReadNumbers(content).contains(kLengthened);
    checkpoint.state =
        TakeState(NumUnconstrained(checkpoint.network.network, PackingOf(recipe)), &content);
    checkpoint.factors = TakeFactors(&content);
    RequireNothingLeft(content);
    return checkpoint;
  } catch (const Error& error) {
    ThrowError(path, ": is not a usable checkpoint: ", error.what());
  }
}

}  // namespace

void SaveCheckpoint(const Checkpoint& checkpoint, const std::string& path) {
  WriteSafeTensors(path, CheckpointToTensors(checkpoint, path));
}

Checkpoint LoadCheckpoint(const std::string& path) {
  return TakeCheckpoint(ReadSafeTensors(path), path);
}

std::string CheckpointToBytes(const std::string& name, const Checkpoint& checkpoint) {
  return SafeTensorsToBytes(name, CheckpointToTensors(checkpoint, name));
}

Checkpoint CheckpointFromBytes(const std::string& name, std::string_view bytes) {
  return TakeCheckpoint(SafeTensorsFromBytes(name, bytes), name);
}

}  // namespace fathom
