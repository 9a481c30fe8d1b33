#include "bnn/checkpoint.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/arrays.h"
#include "fathom/fitted/description.h"
#include "fathom/io/json_text.h"
#include "fathom/io/json_value.h"
#include "fathom/io/safetensors.h"

namespace fathom::bnn {

namespace {

using Json = nlohmann::json;

constexpr const char* kMetadata = "baseline";
constexpr int kCheckpointVersion = 1;
// Between the name of a job and that of its array; neither has one.
constexpr char kSeparator = '/';

SafeTensors ToTensors(const BaselineCheckpoint& checkpoint, const JobStates& jobs) {
  SafeTensors content;
  content.metadata[kMetadata] = JsonText(Json{{"version", kCheckpointVersion},
                                              {"options", BaselineToJson(checkpoint.options)},
                                              {"fingerprint", checkpoint.fingerprint},
                                              {"origin", checkpoint.origin},
                                              {"rows", checkpoint.rows},
                                              {"seconds", ToJson(checkpoint.seconds)}});
  for (const auto& [job, state] : jobs) {
    const ArrayWriter arrays(&content, job + kSeparator);
    for (const auto& [name, array] : state) arrays.Write(name, array);
  }
  return content;
}

JobStates TakeJobs(const SafeTensors& content) {
  JobStates jobs;
  for (const auto& [name, tensor] : content.tensors) {
    const std::size_t at = name.find(kSeparator);
    if (at == std::string::npos || tensor.shape.size() != 2)
      ThrowError("array ", Quoted(name), " belongs to nothing");
    jobs[name.substr(0, at)][name.substr(at + 1)] =
        Eigen::Map<const Matrix>(tensor.values.data(), static_cast<Index>(tensor.shape[0]),
                                 static_cast<Index>(tensor.shape[1]));
  }
  return jobs;
}

BaselineCheckpoint TakeBaseline(const SafeTensors& content, const std::string& path) {
  try {
    if (!content.metadata.contains(kMetadata)) ThrowError("it has no baseline in training");
    const Json json = TryParseJson(content.metadata.at(kMetadata));
    if (!json.is_object()) ThrowError("its description is not JSON");
    int version = 0;
    ReadField(json, "version", &version);
    if (version != kCheckpointVersion)
      ThrowError("its version is ", version, ", and this fathom reads version ", kCheckpointVersion,
                 "; resume it with the fathom that wrote it");
    BaselineCheckpoint checkpoint{
        .options = BaselineFromJson(FieldOf(json, "options", Json::value_t::object)),
        .fingerprint = {},
        .jobs = TakeJobs(content)};
    ReadField(json, "fingerprint", &checkpoint.fingerprint);
    ReadField(json, "origin", &checkpoint.origin);
    ReadField(json, "rows", &checkpoint.rows);
    ReadField(json, "seconds", &checkpoint.seconds);
    if (!(checkpoint.seconds >= 0) || std::isinf(checkpoint.seconds))
      ThrowError("its seconds are not a time");
    return checkpoint;
  } catch (const Error& error) {
    ThrowError(path, ": is not a usable checkpoint: ", error.what());
  }
}

}  // namespace

void SaveBaselineCheckpoint(const BaselineCheckpoint& checkpoint, const JobStates& jobs,
                            const std::string& path) {
  WriteSafeTensors(path, ToTensors(checkpoint, jobs));
}

BaselineCheckpoint LoadBaselineCheckpoint(const std::string& path) {
  return TakeBaseline(ReadSafeTensors(path), path);
}

BaselineCheckpoint BaselineCheckpointFromBytes(const std::string& name, std::string_view bytes) {
  return TakeBaseline(SafeTensorsFromBytes(name, bytes), name);
}

bool IsBaselineCheckpoint(const std::string& path) {
  return ReadSafeTensors(path).metadata.contains(kMetadata);
}

}  // namespace fathom::bnn
