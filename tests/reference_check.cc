#include "tests/reference_check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/reference_json.h"

namespace fathom {
namespace {

std::string CheckCase(const std::string& kind, const Json& test) {
  Comparison compare(test.at("tolerance").get<double>());
  if (kind == "psi") {
    CheckPsi(test, &compare);
  } else if (kind == "layer") {
    CheckLayer(test, &compare);
  } else if (kind == "energy") {
    CheckEnergy(test, &compare);
  } else if (kind == "variational") {
    CheckVariational(test, &compare);
  } else if (kind == "ep_step") {
    CheckEpStep(test, &compare);
  } else if (kind == "fitc") {
    CheckFitc(test, &compare);
  } else if (kind == "neighbour_gp") {
    CheckNeighbourGp(test, &compare);
  } else {
    throw std::runtime_error("unknown kind " + kind);
  }
  for (const std::string part : {"expected", "gradients", "prediction"})
    compare.ExpectAllRead(PartOf(test, part), part);
  return compare.text();
}

ReferenceResult CheckFile(const std::filesystem::path& path) {
  ReferenceResult result;
  result.file = path.filename().string();
  try {
    std::ifstream stream(path);
    const Json file = Json::parse(stream);
    const auto kind = file.at("kind").get<std::string>();
    for (const Json& test : file.at("cases")) {
      const auto name = test.at("name").get<std::string>();
      try {
        const std::string differences = CheckCase(kind, test);
        if (differences.empty()) {
          ++result.passed;
        } else {
          result.failures.push_back(name + ": " + differences);
        }
      } catch (const NotSupported& missing) {
        result.unsupported.push_back(name + ": " + missing.what());
      } catch (const std::exception& error) {
        result.failures.push_back(name + ": " + error.what());
      }
    }
  } catch (const std::exception& error) {
    result.failures.emplace_back(error.what());
  }
  return result;
}

}  // namespace

std::vector<ReferenceResult> CheckReferences(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ReferenceResult> results;
  for (const auto& path : paths) results.push_back(CheckFile(path));
  return results;
}

std::string ReferenceFolder() {
  const char* folder = std::getenv("FATHOM_REFERENCE_DIR");
  return folder != nullptr && *folder != '\0' ? folder : OwnReferenceFolder();
}

std::string OwnReferenceFolder() { return FATHOM_SOURCE_DIR "/tests/reference"; }

}  // namespace fathom
