#include "tests/reference_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

namespace fathom {
namespace {

TEST(Reference, EveryVectorIsReproduced) {
  const std::vector<ReferenceResult> results = CheckReferences(ReferenceFolder());
  ASSERT_FALSE(results.empty()) << "no reference files in " << ReferenceFolder();
  int passed = 0;
  for (const ReferenceResult& result : results) {
    passed += result.passed;
    for (const std::string& failure : result.failures)
      ADD_FAILURE() << result.file << ": " << failure;
  }
  EXPECT_GT(passed, 0);
}

TEST(Reference, EveryVectorOfTheNeuralNetworksIsReproduced) {
  int passed = 0;
  for (const ReferenceResult& result : CheckReferences(OwnBnnFolder())) {
    passed += result.passed;
    for (const std::string& failure : result.failures)
      ADD_FAILURE() << result.file << ": " << failure;
  }
  EXPECT_EQ(passed, 55);
}

using Json = nlohmann::json;

// What the check says of the first case of a file, changed.
ReferenceResult CheckChanged(const std::string& file, const std::function<void(Json*)>& change) {
  std::ifstream stream(OwnReferenceFolder() + "/" + file);
  if (!stream) stream.open(OwnBnnFolder() + "/" + file);
  Json json = Json::parse(stream);
  json["cases"] = Json::array({json["cases"][0]});
  change(&json["cases"][0]);
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      ("fathom_reference_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / file) << json;
  const std::vector<ReferenceResult> results = CheckReferences(folder.string());
  std::filesystem::remove_all(folder);
  EXPECT_EQ(results.size(), 1U);
  return results.at(0);
}

const std::vector<std::string> kFiles = {"energy_L2_hidden2.json",
                                         "energy_full_covariance.json",
                                         "classification_probit.json",
                                         "variational_limit.json",
                                         "psi_se_ard.json",
                                         "psi_se_ard_fullcov.json",
                                         "layer_moments.json",
                                         "ep_step.json",
                                         "fitc_power_ep.json",
                                         "pbp_adf.json",
                                         "pbp_gamma.json",
                                         "pbp_prior.json",
                                         "pbp_epochs.json",
                                         "vi_weight.json",
                                         "vi_local.json",
                                         "vi_kl.json",
                                         "vi_graves.json",
                                         "sgld_step.json",
                                         "hmc_posterior.json",
                                         "hmc_leapfrog.json",
                                         "hmc_gibbs.json",
                                         "dropout.json",
                                         "predictive.json",
                                         "diagnostics.json"};

TEST(Reference, ACaseMayHoldOnlySomeOfTheNumbers) {
  for (const std::string& file : kFiles) {
    SCOPED_TRACE(file);
    // Each of the expected numbers alone, without gradients and predictions.
    Json keys;
    CheckChanged(file, [&](Json* test) { keys = (*test)["expected"]; });
    for (const auto& [key, value] : keys.items()) {
      if (value.empty()) continue;  // no hidden layers
      const ReferenceResult result = CheckChanged(file, [&, &kept = key](Json* test) {
        (*test)["expected"] = {{kept, (*test)["expected"][kept]}};
        test->erase("gradients");
        test->erase("prediction");
      });
      EXPECT_EQ(result.passed, 1) << key << (result.failures.empty() ? "" : result.failures[0]);
    }
  }
  // F and gradients alone; some of the gradients.
  const ReferenceResult energy = CheckChanged("energy_L1.json", [](Json* test) {
    (*test)["expected"] = {{"F", (*test)["expected"]["F"]}};
    test->erase("prediction");
    (*test)["gradients"]["layers"][0]["gps"][0]["kernel"].erase("variance");
    (*test)["gradients"]["layers"][0].erase("sigma2");
  });
  EXPECT_EQ(energy.passed, 1);
}

TEST(Reference, AWrongNumberIsNoticedWhereverItStands) {
  const auto failures = [](const std::string& file, const std::string& pointer) {
    return CheckChanged(file,
                        [&](Json* test) {
                          Json& number = (*test)[Json::json_pointer(pointer)];
                          number = number.get<double>() + 1e-3;
                        })
        .failures.size();
  };
  EXPECT_EQ(failures("energy_L1.json", "/expected/F"), 1U);
  EXPECT_EQ(failures("energy_L1.json", "/gradients/layers/0/gps/0/Z/0/0"), 1U);
  EXPECT_EQ(failures("energy_L1.json", "/prediction/y_var/0/0"), 1U);
  EXPECT_EQ(failures("psi_zero_variance.json", "/gradients/var/0/0"), 1U);
  EXPECT_EQ(failures("fitc_power_ep.json", "/expected/fitc_log_marginal"), 1U);
  EXPECT_EQ(failures("ep_step.json", "/expected/layers/0/gps/0/eta_sep/0"), 1U);
  EXPECT_EQ(failures("pbp_adf.json", "/expected/layers/0/v_z/1"), 1U);
  EXPECT_EQ(failures("pbp_prior.json", "/expected/prior_new/m_nat/0/1/1"), 1U);
  EXPECT_EQ(failures("vi_local.json", "/expected/grad_rho/1/0/2"), 1U);
  EXPECT_EQ(failures("diagnostics.json", "/expected/ess"), 1U);
}

TEST(Reference, UnknownNumbersAndEmptyCasesFail) {
  for (const std::string& file : kFiles) {
    SCOPED_TRACE(file);
    const ReferenceResult unknown =
        CheckChanged(file, [](Json* test) { (*test)["expected"]["surprise"] = 1; });
    ASSERT_EQ(unknown.failures.size(), 1U);
    EXPECT_NE(unknown.failures[0].find("unknown key expected.surprise"), std::string::npos);
    const ReferenceResult empty = CheckChanged(file, [](Json* test) {
      for (const char* part : {"expected", "gradients", "prediction"}) test->erase(part);
    });
    ASSERT_EQ(empty.failures.size(), 1U);
    EXPECT_NE(empty.failures[0].find("nothing to compare"), std::string::npos);
  }
  const ReferenceResult nested = CheckChanged("energy_L1.json", [](Json* test) {
    (*test)["gradients"]["layers"][0]["gps"][0]["kernel"]["length"] = 1;
  });
  EXPECT_EQ(nested.failures.size(), 1U);
}

}  // namespace
}  // namespace fathom
