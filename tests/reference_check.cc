#include "tests/reference_check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/reference_json.h"
#include "tests/support/places.h"

namespace fathom {
namespace {

using Check = void (*)(const Json& test, Comparison* compare);
const std::map<std::string, Check> kChecks = {{"psi", CheckPsi},
                                              {"layer", CheckLayer},
                                              {"energy", CheckEnergy},
                                              {"variational", CheckVariational},
                                              {"ep_step", CheckEpStep},
                                              {"fitc", CheckFitc},
                                              {"neighbour_gp", CheckNeighbourGp},
                                              {"pbp_adf", bnn::CheckPbpAdf},
                                              {"pbp_gamma", bnn::CheckPbpGamma},
                                              {"pbp_prior", bnn::CheckPbpPrior},
                                              {"pbp_epochs", bnn::CheckPbpEpochs},
                                              {"vi_weight", bnn::CheckViWeight},
                                              {"vi_local", bnn::CheckViLocal},
                                              {"vi_kl", bnn::CheckViKl},
                                              {"vi_graves", bnn::CheckViGraves},
                                              {"sgld_step", bnn::CheckSgldStep},
                                              {"hmc_posterior", bnn::CheckHmcPosterior},
                                              {"hmc_leapfrog", bnn::CheckHmcLeapfrog},
                                              {"hmc_gibbs", bnn::CheckHmcGibbs},
                                              {"dropout", bnn::CheckDropout},
                                              {"predictive", bnn::CheckPredictive},
                                              {"diagnostics", bnn::CheckDiagnostics}};

std::string CheckCase(const std::string& kind, const Json& test) {
  Comparison compare(test.at("tolerance").get<double>());
  const auto check = kChecks.find(kind);
  if (check == kChecks.end()) throw std::runtime_error("unknown kind " + kind);
  check->second(test, &compare);
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
      const std::string start = test.at("name").get<std::string>() + ": ";
      try {
        const std::string differences = CheckCase(kind, test);
        if (differences.empty()) {
          ++result.passed;
        } else {
          result.failures.push_back(start + differences);
        }
      } catch (const NotSupported& missing) {
        result.unsupported.push_back(start + missing.what());
      } catch (const std::exception& error) {
        result.failures.push_back(start + error.what());
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

std::string OwnReferenceFolder() { return SourceFile("tests/reference"); }

std::string OwnBnnFolder() { return SourceFile("tests/reference_bnn"); }

}  // namespace fathom
