#include "cli/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/common.h"
#include "fathom/base/error.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/file_bytes.h"
#include "fathom/io/json_text.h"
#include "fathom/io/json_value.h"
#include "fathom/io/write_all.h"

namespace fathom::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kEnd = "reason";  // only the line at the end of a training has this field

// The lines of the epochs up to `last_step`. What follows was written after the checkpoint from
// which the training goes on, or says that it ended; a line without an end was cut by a crash.
std::string LinesUpTo(const std::string& path, Index last_step) {
  const FileBytes file(path);
  const std::string_view text = file.bytes();
  std::size_t kept = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', kept)) {
    const nlohmann::json line = TryParseJson(text.substr(kept, end - kept));
    if (!line.is_object() || !line.contains("step") || !line["step"].is_number_integer())
      ThrowError(path, ": is not the log of a training; name another file for --log");
    if (line["step"] > last_step || line.contains(kEnd)) break;
    kept = end + 1;
  }
  return std::string(text.substr(0, kept));
}

}  // namespace

MetricsLog::MetricsLog(const std::string& path, std::vector<std::string> target_names,
                       Index first_step)
    : path_(path), target_names_(std::move(target_names)) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  // A pipe or a terminal takes what comes.
  if (!fs::exists(path, ignored) || fs::is_regular_file(path, ignored)) {
    const bool goes_on = first_step > 0 && fs::exists(path, ignored);
    const std::string kept = goes_on ? LinesUpTo(path, first_step) : "";
    const std::string_view parts[] = {kept};
    WriteFileAtomically(path, parts);
  }
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) ThrowError(path, ": cannot write the log: ", std::strerror(errno));
}

MetricsLog::~MetricsLog() { ::close(descriptor_); }

bool MetricsLog::Write(const EpochMetrics& metrics) {
  Json noise = Json::object();
  for (Index t = 0; t < metrics.noise_std.size(); ++t)
    noise[target_names_[t]] = ToJson(metrics.noise_std[t]);
  const Json line = {{"network", metrics.stage + 1},
                     {"epoch", metrics.epoch},
                     {"step", metrics.step},
                     {"energy_per_row", ToJson(metrics.energy_per_row)},
                     {"learning_rate", ToJson(metrics.learning_rate)},
                     {"noise_std", noise},
                     {"seconds", ToJson(metrics.seconds)}};
  return WriteLine(JsonText(line));
}

bool MetricsLog::WriteEnd(const TrainingSummary& summary) {
  const Json line = {{"step", summary.steps},
                     {"energy_per_row", ToJson(summary.energy_per_row)},
                     {kEnd, ToJson(summary.reason)},
                     {"seconds", ToJson(summary.seconds)}};
  return WriteLine(JsonText(line));
}

bool MetricsLog::WriteLine(const std::string& line) {
  if (WriteAll(descriptor_, line + "\n")) return true;
  problem_ = path_ + ": cannot write the log: " + std::strerror(errno);
  return false;
}

}  // namespace fathom::cli
