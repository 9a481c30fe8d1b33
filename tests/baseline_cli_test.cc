// 'fathom baseline' as a user has it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>
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

// Long enough to be stopped on its way.
class LongBaseline : public BaselineCli {
 protected:
  const Arguments hmc_ = {"--burn-in", "60", "--draws", "100", "--chains", "2"};
  const std::string checkpoint_ = File("m.fathom.checkpoint");

  std::string Predicted() const { return Good({"predict", File("m.fathom"), File("test.csv")}); }
  // Starts a fit and gives it the signal once it has written a checkpoint; the exit code.
  int Signal(const Arguments& arguments, int signal) const {
    const int out = ::open(File("printed").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const pid_t child = StartProgram(arguments, {.out = out, .err = out});
    ::close(out);
    siginfo_t ended = {};
    while (!std::filesystem::exists(checkpoint_) && ended.si_pid == 0) {
      ::poll(nullptr, 0, 1);
      ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
    }
    ::kill(child, signal);
    return ExitCode(child);
  }
};

TEST_F(LongBaseline, GoesOnToTheSameModelAfterACrashAndAfterCtrlC) {
  Good(Fit("hmc", hmc_));
  const std::string whole = Predicted();
  for (const int signal : {SIGKILL, SIGINT}) {
    SCOPED_TRACE(signal);
    std::filesystem::remove(File("m.fathom"));
    const int code = Signal(Fit("hmc", Join(hmc_, {"--checkpoint-every", "0.01s"})), signal);
    if (code != 0) {  // it was not too late
      EXPECT_EQ(code, signal == SIGKILL ? 1000 + SIGKILL : 130);
      Good({"resume", File("m.fathom"), "--threads", "2"});
    }
    EXPECT_EQ(Predicted(), whole);
    EXPECT_FALSE(std::filesystem::exists(checkpoint_));
  }
}

TEST_F(LongBaseline, WhatCannotBeResumedSaysWhyInOneLine) {
  Good(Fit("pbp", {"--epochs", "1"}));
  Bad({"resume", File("m.fathom")}, "a baseline is not trained further");
  folder_.Write("m.fathom.checkpoint", "damaged");
  Bad({"resume", File("m.fathom")}, "m.fathom.checkpoint: ");
  std::filesystem::remove(checkpoint_);
  const Arguments longer = {"--draws", "3000", "--checkpoint-every", "0.01s"};
  ASSERT_EQ(Signal(Fit("hmc", longer), SIGKILL), 1000 + SIGKILL);
  Bad({"resume", File("m.fathom"), "--steps", "5"}, "--steps: a baseline has no such option");
  Bad({"resume", File("m.fathom"), "--data", File("test.csv")}, "20 rows instead of 60");
  Bad({"predict", checkpoint_, File("test.csv")}, "m.fathom.checkpoint: ");
}

}  // namespace
}  // namespace fathom
