// 'fathom baseline' as a user has it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/program.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

class BaselineCli : public ProgramTest {
 protected:
  BaselineCli() {
    folder_.Write("train.csv", Csv(60, 1));
    folder_.Write("test.csv", Csv(20, 2));
  }
  Arguments Fit(const std::string& method, const Arguments& more) const {
    return Join({"baseline", method, File("train.csv"), "--target", "y", "-o", File("m.fathom"),
                 "--hidden", "6", "--threads", "1"},
                more);
  }
};

TEST_F(BaselineCli, EveryCommandTakesTheModel) {
  const std::vector<std::pair<std::string, Arguments>> methods = {
      {"pbp", {"--epochs", "3"}},
      {"vi", {"--steps", "200", "--draws", "20"}},
      {"vi-g", {"--steps", "200", "--draws", "20", "--optimal-prior"}},
      {"dropout", {"--epochs", "5", "--draws", "20", "--rate", "0.05"}},
      {"sgld", {"--steps", "300", "--draws", "20", "--chains", "2", "--step", "1e-3"}},
      {"hmc", {"--burn-in", "8", "--draws", "8", "--chains", "2", "--activation", "tanh"}}};
  for (const auto& [method, options] : methods) {
    SCOPED_TRACE(method);
    EXPECT_NE(Good(Fit(method, options)).find("6 hidden -> 1 output"), std::string::npos);
    EXPECT_EQ(CountLines(Good({"predict", File("m.fathom"), File("test.csv")})), 21U);
    EXPECT_NE(Good({"evaluate", File("m.fathom"), File("test.csv")}).find("mean_log_likelihood"),
              std::string::npos);
    const Json inspected = Json::parse(Good({"inspect", File("m.fathom"), "--json"}));
    EXPECT_EQ(inspected["findings"]["settings"]["method"], method);
    EXPECT_NE(Good({"inspect", File("m.fathom")}).find("method = \"" + method + "\""),
              std::string::npos);
  }
}

TEST_F(BaselineCli, AnOptionOfAnotherMethodIsRefused) {
  Bad(Fit("pbp", {"--kl-weight", "2"}), "pbp has no such option");
  Bad(Fit("pbp", {"--activation", "tanh"}), "relu");
  Bad(Fit("vi", {"--kl-weight", "-2"}), "--kl-weight: must be");
  Bad({"baseline", "mcmc", File("train.csv"), "--target", "y", "-o", File("m.fathom")}, "'mcmc'");
}

TEST_F(BaselineCli, WhatNeedsADeepGpSaysSo) {
  Good(Fit("pbp", {"--epochs", "1"}));
  Bad({"export", File("m.fathom"), "--format", "c"}, "kind 'bnn'");
  Bad({"inspect", File("m.fathom"), "--config"}, "was not made by 'fathom fit'");
}

}  // namespace
}  // namespace fathom
