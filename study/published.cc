#include "study/published.h"

#include <algorithm>
#include <cstdlib>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/toml.h"
#include "study/embedded.h"

namespace fathom {

namespace {

constexpr std::string_view kError = "_error";
constexpr std::string_view kUnreachable = "_unreachable";

[[noreturn]] void Fail(const std::string& source, const TomlEntry& entry, const std::string& what) {
  ThrowError(source, ": line ", entry.line, ": ", Quoted(entry.key), " ", what);
}

bool IsOneOf(const std::string& source, const TomlEntry& entry, const char* yes, const char* no) {
  if (entry.values == std::vector<std::string>{yes}) return true;
  if (entry.values == std::vector<std::string>{no}) return false;
  Fail(source, entry, std::string("must be '") + yes + "' or '" + no + "'");
}

void ReadScore(const std::string& source, const TomlEntry& entry,
               const std::vector<std::string>& datasets, PublishedMethod* method) {
  if (entry.values.size() != datasets.size())
    Fail(source, entry, "must have as many numbers as there are datasets above it");
  std::string score = entry.key;
  const bool is_error = score.ends_with(kError);
  if (is_error) score.resize(score.size() - kError.size());
  if (const ScoreKind* kind = FindScore(score)) score = kind->study_key;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    PublishedValue& value = method->scores[score][datasets[i]];
    (is_error ? value.error : value.mean) = std::strtod(entry.values[i].c_str(), nullptr);
  }
}

void ReadUnreachable(const std::string& source, const TomlEntry& entry, PublishedMethod* method) {
  std::string score = entry.key.substr(0, entry.key.size() - kUnreachable.size());
  if (const ScoreKind* kind = FindScore(score)) score = kind->study_key;
  for (const std::string& dataset : entry.values) {
    const auto found = method->scores[score].find(dataset);
    if (found == method->scores[score].end())
      Fail(source, entry, "names " + Quoted(dataset) + ", which has no value above it");
    found->second.reachable = false;
  }
}

}  // namespace

std::vector<PublishedMethod> ParsePublished(const std::string& source, std::string_view text) {
  std::vector<PublishedMethod> methods;
  std::vector<std::string> datasets;
  for (const TomlEntry& entry : ParseToml(source, text)) {
    if (methods.empty() || methods.back().name != entry.section) {
      methods.push_back({.name = entry.section});
      datasets.clear();
    }
    PublishedMethod& method = methods.back();
    if (entry.key == "source") {
      method.source = entry.values.front();
    } else if (entry.key == "splits") {
      method.same_splits = IsOneOf(source, entry, "same", "other");
    } else if (entry.key == "error") {
      method.deviations = IsOneOf(source, entry, "sd", "se");
    } else if (entry.key == "study") {
      method.study = entry.values.front();
    } else if (entry.key.ends_with(kUnreachable)) {
      ReadUnreachable(source, entry, &method);
    } else if (entry.key == "datasets") {
      datasets = entry.values;
    } else {
      ReadScore(source, entry, datasets, &method);
    }
  }
  return methods;
}

std::vector<PublishedMethod> LoadPublished() {
  std::vector<PublishedMethod> methods;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!file.path.starts_with("published/")) continue;
    for (PublishedMethod& method :
         ParsePublished("experiments/" + std::string(file.path), file.text))
      methods.push_back(std::move(method));
  }
  return methods;
}

}  // namespace fathom
