#include "fathom/fitted/model_file.h"
#include "fathom/io/json_text.h"
#include "fathom/version.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/fitted/beyond.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/description.h"
#include "fathom/fitted/expert.h"
#include "fathom/fitted/model_parts_json.h"
#include "fathom/fitted/old_formats.h"
#include "fathom/fitted/seen_rows.h"
#include "fathom/recipe/recipe_json.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "fathom-model";
constexpr int kFormatVersion = 8;

// The names of the arrays and descriptions of the k-th expert and member.
std::string ExpertPrefix(std::size_t k) { return "experts." + std::to_string(k) + "."; }
std::string MemberPrefix(std::size_t k) { return "members." + std::to_string(k) + "."; }

// Describes the members and, once each, the experts behind them.
void WriteMembers(const std::vector<Member>& all, Json* description, const ArrayWriter& arrays) {
  Json members = Json::array();
  Json experts = Json::array();
  for (const auto& group : ByExpert(all)) {
    const Expert& expert = *group.front().expert;
    const ArrayWriter own = arrays.Under(ExpertPrefix(experts.size()));
    Json& described = experts.emplace_back(Json::object());
    described["kind"] = expert.Kind();
    expert.Write(&described, own);
    for (const Member& member : group) {
      Json json = {{"expert", experts.size() - 1},
                   {"weight", ToJson(member.weight)},
                   {"noise_scale", ToJson(member.noise_scale)},
                   {"recipe", RecipeToJson(member.recipe)},
                   {"training", ToJson(member.summary)}};
      if (!member.trend.empty())
        json["trend"] = std::vector<Index>(member.trend.begin(), member.trend.end());
      WriteScalers(member.input_scaler, member.target_scaler, &json,
                   arrays.Under(MemberPrefix(members.size())));
      members.push_back(std::move(json));
    }
  }
  (*description)["experts"] = std::move(experts);
  (*description)["members"] = std::move(members);
}

Recipe ReadRecipe(const Json& json) {
  Recipe recipe;
  UpdateRecipe(FieldOf(json, "recipe", Json::value_t::object), &recipe);
  return recipe;
}

std::vector<Member> TakeMembers(const Json& description, const Schema& schema,
                                const ArrayReader& arrays) {
  std::vector<std::shared_ptr<const Expert>> experts;
  for (const Json& json : FieldOf(description, "experts", Json::value_t::array))
    experts.push_back(ReadExpert(json, arrays.Under(ExpertPrefix(experts.size()))));
  std::vector<Member> members;
  std::size_t used = 0;  // experts that have a member so far
  for (const Json& json : FieldOf(description, "members", Json::value_t::array)) {
    Member member;
    Index expert = 0;
    ReadField(json, "expert", &expert);
    const auto place = static_cast<std::size_t>(expert);
    if (expert < 0 || place >= experts.size() || (place != used && place + 1 != used))
      ThrowError("its members do not list its experts in their order");
    used = place + 1;
    member.expert = experts[place];
    ReadField(json, "weight", &member.weight);
    ReadField(json, "noise_scale", &member.noise_scale);
    member.recipe = ReadRecipe(json);
    FromJson(FieldOf(json, "training", Json::value_t::object), &member.summary);
    std::vector<Index> trend;
    ReadOptionalField(json, "trend", &trend);
    for (const Index before : trend) {
      if (before < 0) ThrowError("a member builds on one that is not there");
      member.trend.push_back(static_cast<std::size_t>(before));
    }
    ReadScalers(json, schema, arrays.Under(MemberPrefix(members.size())), &member.input_scaler,
                &member.target_scaler);
    members.push_back(std::move(member));
  }
  if (used != experts.size()) ThrowError("an expert of it belongs to no member");
  return members;
}

constexpr const char* kCalibrationPrefix = "calibration.";

// A number that may be infinite is left out then.
void WriteShape(const Calibration& calibration, Json* json, const ArrayWriter& arrays) {
  const TargetShape& shape = calibration.shape;
  if (shape.is_plain()) return;
  Json own = Json::object();
  if (shape.warp.kind != Warp::Kind::kNone) {
    own["warp"] = {{"kind", NameOf(shape.warp.kind)},
                   {"shift", ToJson(shape.warp.shift)},
                   {"low", ToJson(shape.warp.low)},
                   {"high", ToJson(shape.warp.high)}};
  }
  if (shape.step > 0) {
    own["step"] = ToJson(shape.step);
    own["least"] = ToJson(shape.least);
    if (std::isfinite(shape.most)) own["most"] = ToJson(shape.most);
  }
  if (shape.has_value) {
    own["value"] = ToJson(shape.value);
    own["value_width"] = ToJson(shape.value_width);
  }
  if (shape.gap > 0) own["gap"] = ToJson(shape.gap);
  if (shape.has_share()) {
    arrays.Write("share_logit", calibration.share_logit);
    if (calibration.share != nullptr) {
      Json share = Json::object();
      WriteMembers(calibration.share->members(), &share, arrays.Under("share."));
      own["share"] = std::move(share);
    }
  }
  (*json)["shape"] = std::move(own);
}

void TakeShape(const Json& json, const Schema& schema, const ArrayReader& arrays,
               Calibration* calibration) {
  if (!json.contains("shape")) return;
  const Json& own = FieldOf(json, "shape", Json::value_t::object);
  TargetShape& shape = calibration->shape;
  if (own.contains("warp")) {
    const Json& warp = FieldOf(own, "warp", Json::value_t::object);
    ReadField(warp, "kind", &shape.warp.kind);
    ReadField(warp, "shift", &shape.warp.shift);
    ReadField(warp, "low", &shape.warp.low);
    ReadField(warp, "high", &shape.warp.high);
  }
  if (own.contains("step")) {
    ReadField(own, "step", &shape.step);
    ReadField(own, "least", &shape.least);
    ReadOptionalField(own, "most", &shape.most);
  }
  if (own.contains("value")) {
    shape.has_value = true;
    ReadField(own, "value", &shape.value);
    ReadField(own, "value_width", &shape.value_width);
  }
  ReadOptionalField(own, "gap", &shape.gap);
  if (!shape.has_share()) return;
  calibration->share_logit = arrays.TakeVector("share_logit", 2);
  if (!own.contains("share")) return;
  ModelParts share;
  share.schema = schema;
  share.members =
      TakeMembers(FieldOf(own, "share", Json::value_t::object), schema, arrays.Under("share."));
  calibration->share = std::make_shared<const Model>(std::move(share));
}

void WriteBeyond(const Beyond& beyond, Json* description, const ArrayWriter& arrays) {
  (*description)["beyond"] = {{"course", ToJson(beyond.course)},
                              {"power", ToJson(beyond.power)},
                              {"limit", ToJson(beyond.limit)},
                              {"margin", ToJson(beyond.margin)}};
  arrays.Write("slope", beyond.slope);
  arrays.Write("intercept", beyond.intercept);
  arrays.Write("lengthscales", beyond.lengthscales);
  arrays.Write("growth", beyond.growth);
}

std::shared_ptr<const Beyond> TakeBeyond(const Json& json, Index inputs, Index targets,
                                         const ArrayReader& arrays) {
  auto beyond = std::make_shared<Beyond>();
  ReadField(json, "course", &beyond->course);
  ReadField(json, "power", &beyond->power);
  // Earlier models have neither.
  if (json.contains("limit")) ReadField(json, "limit", &beyond->limit);
  if (json.contains("margin")) ReadField(json, "margin", &beyond->margin);
  beyond->slope = arrays.TakeMatrix("slope", inputs, targets);
  beyond->intercept = arrays.TakeVector("intercept", targets);
  beyond->lengthscales = arrays.TakeVector("lengthscales", inputs);
  beyond->growth = arrays.TakeVector("growth", targets);
  return beyond;
}

void WriteCalibration(const Calibration& calibration, Json* description,
                      const ArrayWriter& arrays) {
  const HeldOutCheck& check = calibration.check;
  Json json = {{"scales", calibration.scales.size()},
               {"check",
                {{"rows", check.rows},
                 {"coverage_95", ToJson(check.coverage_95)},
                 {"log_likelihood", ToJson(check.log_likelihood)},
                 {"rmse", ToJson(check.rmse)}}}};
  arrays.Write("scales", calibration.scales);
  arrays.Write("shares", calibration.shares);
  arrays.Write("floor", calibration.floor);
  if (calibration.local_noise != nullptr) {
    Json noise = {{"kind", calibration.local_noise->Kind()}};
    calibration.local_noise->Write(&noise, arrays.Under("noise."));
    json["local_noise"] = std::move(noise);
  }
  if (const SeenRows* seen = calibration.seen.get(); seen != nullptr) {
    json["seen_rows"] = {{"rows", seen->x.rows()}, {"inputs", seen->x.cols()}};
    arrays.Write("seen.x", seen->x);
    arrays.Write("seen.mean", seen->mean);
    arrays.Write("seen.var", seen->var);
  }
  if (calibration.beyond != nullptr)
    WriteBeyond(*calibration.beyond, &json, arrays.Under("beyond."));
  if (calibration.local_noise != nullptr || calibration.seen != nullptr ||
      calibration.beyond != nullptr)
    WriteScalers(calibration.input_scaler, calibration.target_scaler, &json, arrays);
  WriteShape(calibration, &json, arrays);
  (*description)["calibration"] = std::move(json);
}

std::shared_ptr<const Calibration> TakeCalibration(const Json& description, const Schema& schema,
                                                   const ArrayReader& arrays) {
  if (!description.contains("calibration")) return nullptr;
  const Json& json = FieldOf(description, "calibration", Json::value_t::object);
  auto calibration = std::make_shared<Calibration>();
  Index S = 0;
  ReadField(json, "scales", &S);
  calibration->scales = arrays.TakeVector("scales", S);
  calibration->shares = arrays.TakeVector("shares", S);
  calibration->floor = arrays.TakeVector("floor", static_cast<Index>(schema.targets.size()));
  const Json& check = FieldOf(json, "check", Json::value_t::object);
  ReadField(check, "rows", &calibration->check.rows);
  ReadField(check, "coverage_95", &calibration->check.coverage_95);
  ReadField(check, "log_likelihood", &calibration->check.log_likelihood);
  ReadField(check, "rmse", &calibration->check.rmse);
  if (json.contains("local_noise")) {
    calibration->local_noise =
        ReadExpert(FieldOf(json, "local_noise", Json::value_t::object), arrays.Under("noise."));
  }
  if (json.contains("seen_rows")) {
    const Json& sizes = FieldOf(json, "seen_rows", Json::value_t::object);
    const auto targets = static_cast<Index>(schema.targets.size());
    Index rows = 0, inputs = 0;
    ReadField(sizes, "rows", &rows);
    ReadField(sizes, "inputs", &inputs);
    auto seen = std::make_shared<SeenRows>();
    seen->x = arrays.TakeMatrix("seen.x", rows, inputs);
    seen->mean = arrays.TakeMatrix("seen.mean", rows, targets);
    seen->var = arrays.TakeMatrix("seen.var", rows, targets);
    calibration->seen = std::move(seen);
  }
  if (json.contains("local_noise") || json.contains("seen_rows") || json.contains("beyond"))
    ReadScalers(json, schema, arrays, &calibration->input_scaler, &calibration->target_scaler);
  if (json.contains("beyond"))
    calibration->beyond = TakeBeyond(FieldOf(json, "beyond", Json::value_t::object),
                                     calibration->input_scaler.outputs(), calibration->floor.size(),
                                     arrays.Under("beyond."));
  TakeShape(json, schema, arrays, calibration.get());
  return calibration;
}

}  // namespace

int FormatOf(const SafeTensors& content) {
  const auto format = content.metadata.find("format");
  if (format == content.metadata.end() || format->second != kFormat)
    ThrowError(
        "it holds arrays, but not those of a fathom model; name a file that 'fathom fit' made");
  const auto found = content.metadata.find("format_version");
  if (found == content.metadata.end()) ThrowError("its metadata have no 'format_version'");
  const std::string& version = found->second;
  for (int known = 1; known <= kFormatVersion; ++known) {
    if (version == std::to_string(known)) return known;
  }
  const bool is_number =
      !version.empty() && version.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && version != "0")
    ThrowError("written by a newer fathom (format ", version.substr(0, 20),
               "); this one reads format ", kFormatVersion, ": upgrade");
  ThrowError("its format version is ", Quoted(version));
}

SafeTensors ModelToTensors(const Model& model) {
  SafeTensors content;
  try {
    Json description = {{"written_by", std::string("fathom ") + FATHOM_VERSION},
                        {"columns", ToJson(model.schema())},
                        {"data", ToJson(model.data())},
                        {"recipe", RecipeToJson(model.recipe())},
                        {"training", ToJson(model.summary())}};
    if (!model.natures().empty()) description["target_natures"] = ToJson(model.natures());
    WriteMembers(model.members(), &description, ArrayWriter(&content));
    if (model.calibration() != nullptr)
      WriteCalibration(*model.calibration(), &description,
                       ArrayWriter(&content, kCalibrationPrefix));
    content.metadata = {{"format", kFormat},
                        {"format_version", std::to_string(kFormatVersion)},
                        {"model", JsonText(description)}};
  } catch (const Json::exception&) {
    ThrowError("the name of a column or file is not UTF-8");
  }
  return content;
}

Model TakeModel(SafeTensors* content) {
  const int version = FormatOf(*content);
  const Json description = ParseDescription(*content, "model");
  // Else one wrong bit in its name would hide that the checksum is wrong.
  if (version >= 6 && !content->metadata.contains(kChecksum))
    ThrowError("it has no checksum; make or copy the file anew");
  if (version < 5) return Model(TakeOldModel(description, content));
  ModelParts parts;
  FromJson(FieldOf(description, "columns", Json::value_t::object), &parts.schema);
  FromJson(FieldOf(description, "data", Json::value_t::object), &parts.data);
  parts.recipe = ReadRecipe(description);
  FromJson(FieldOf(description, "training", Json::value_t::object), &parts.summary);
  ReadOptionalField(description, "target_natures", &parts.natures);
  parts.members = TakeMembers(description, parts.schema, ArrayReader(content));
  parts.calibration =
      TakeCalibration(description, parts.schema, ArrayReader(content, kCalibrationPrefix));
  return Model(std::move(parts));
}

namespace {

SafeTensors TensorsFor(const std::string& name, const Model& model) {
  try {
    return ModelToTensors(model);
  } catch (const Error& error) {
    ThrowError(name, ": cannot write the model: ", error.what());
  }
}

Model ModelFrom(const std::string& name, SafeTensors content) {
  try {
    Model model = TakeModel(&content);
    std::erase_if(content.tensors,
                  [](const auto& entry) { return entry.first.starts_with(kOptimizerPrefix); });
    RequireNothingLeft(content);
    return model;
  } catch (const Error& error) {
    ThrowError(name, ": is not a usable model: ", error.what());
  }
}

}  // namespace

void SaveModel(const Model& model, const std::string& path) {
  WriteSafeTensors(path, TensorsFor(path, model));
}

Model LoadModel(const std::string& path) { return ModelFrom(path, ReadSafeTensors(path)); }

std::string ModelToBytes(const Model& model) {
  return SafeTensorsToBytes("model", TensorsFor("model", model));
}

Model ModelFromBytes(const std::string& name, std::string_view bytes) {
  return ModelFrom(name, SafeTensorsFromBytes(name, bytes));
}

}  // namespace fathom
