// Trainings that are stopped, killed, resumed, and run out of disk, through the built program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fathom/base/random.h"
#include "fathom/base/stopwatch.h"
#include "fathom/fitted/predictor.h"
#include "fathom/train/checkpoint.h"
#include "tests/support/changed_model.h"
#include "tests/support/program.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string LongCsv(Index rows, std::uint64_t seed) {
  RandomStream stream(seed);
  std::ostringstream out;
  out << "a,b,id,y\n";
  for (Index n = 0; n < rows; ++n) {
    const double a = stream.Normal();
    const double b = stream.Normal();
    out << a << "," << b << ",row" << n << "," << a * b + 0.1 * stream.Normal() << "\n";
  }
  return out.str();
}

class LongRun : public testing::Test {
 protected:
  Arguments FitArguments(const std::string& model, const Arguments& more = {}) const {
    return Join({"fit", train_, "--target", "y", "--ignore", "id", "-o", model, "--steps", "60",
                 "--inducing", "10", "--warm-up", "10", "--batch", "50", "--threads", "1"},
                more);
  }

  // Starts the program with everything it prints in the file "printed".
  pid_t StartQuietly(const Arguments& arguments, StartOptions options = {}) const {
    const int out = ::open(printed_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    options.out = options.err = out;
    const pid_t child = StartProgram(arguments, options);
    ::close(out);
    return child;
  }
  int Run(const Arguments& arguments, const StartOptions& options = {}) const {
    return ExitCode(StartQuietly(arguments, options));
  }
  std::string Printed() const { return TestFolder::Read(printed_); }
  void ExpectGood(const Arguments& arguments) const { EXPECT_EQ(Run(arguments), 0) << Printed(); }
  void ExpectBad(const Arguments& arguments, const std::string& word) const {
    EXPECT_EQ(Run(arguments), 2) << Printed();
    EXPECT_NE(Printed().find(word), std::string::npos) << Printed();
    EXPECT_EQ(Printed().find('\n'), Printed().size() - 1) << "one line: " << Printed();
  }

  // Starts a training and gives it the signals once three lines stand in its log.
  int Interrupt(const Arguments& arguments, std::initializer_list<int> signals) const {
    const pid_t child = StartQuietly(Join(arguments, {"--log", log_}));
    while (CountLines(TestFolder::Read(log_)) < 3 && ::kill(child, 0) == 0) ::poll(nullptr, 0, 1);
    for (const int signal : signals) ::kill(child, signal);
    return ExitCode(child);
  }

  // Whether the program has begun to catch the signal; the kernel keeps a list.
  static bool Catches(pid_t child, int signal) {
    std::istringstream status(TestFolder::Read("/proc/" + std::to_string(child) + "/status"));
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigCgt:"))
        return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
    }
    return false;
  }

  // What a model's file holds but for the time that its training took.
  std::string Bytes(const std::string& path) const {
    SaveModel(WithoutTime(LoadModel(path)), folder_.Path("timeless"));
    return TestFolder::Read(folder_.Path("timeless"));
  }
  static std::vector<Json> LogWithoutTime(const std::string& path) {
    std::vector<Json> lines;
    std::istringstream text(TestFolder::Read(path));
    for (std::string line; std::getline(text, line);) {
      lines.push_back(Json::parse(line));
      EXPECT_EQ(lines.back().erase("seconds"), 1U) << line;
    }
    return lines;
  }

  TestFolder folder_;
  const std::string train_ = folder_.Write("train.csv", LongCsv(200, 1));
  const std::string model_ = folder_.Path("model.fathom");
  const std::string checkpoint_ = folder_.Path("model.fathom.checkpoint");
  const std::string log_ = folder_.Path("log.jsonl");
  const std::string printed_ = folder_.Path("printed");
};

TEST_F(LongRun, LogHasALinePerEpochAndOneAtTheEnd) {
  ExpectGood(FitArguments(model_, {"--log", log_}));
  const std::vector<Json> lines = LogWithoutTime(log_);
  ASSERT_EQ(lines.size(), 16U);  // 60 steps, 4 in an epoch
  for (std::size_t e = 0; e < 15; ++e) {
    EXPECT_EQ(lines[e]["epoch"], e + 1);
    EXPECT_EQ(lines[e]["step"], 4 * (e + 1));
    EXPECT_TRUE(lines[e]["energy_per_row"].is_number());
    EXPECT_GT(lines[e]["learning_rate"], 0);
    EXPECT_GT(lines[e]["noise_std"]["y"], 0);
  }
  EXPECT_EQ(lines[15]["reason"], "finished");
  EXPECT_EQ(lines[15]["step"], 60);
  EXPECT_FALSE(fs::exists(checkpoint_)) << "a finished training leaves no checkpoint";
}

TEST_F(LongRun, InterruptedTrainingGoesOnToTheSameBits) {
  const Arguments fit = FitArguments(model_, {"--steps", "2000", "--patience", "0"});
  ExpectGood(Join(fit, {"--log", log_}));
  const std::string whole = Bytes(model_);
  const std::vector<Json> whole_log = LogWithoutTime(log_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    fs::remove(model_);
    fs::remove(log_);
    EXPECT_EQ(Interrupt(fit, {signal}), 128 + signal) << Printed();
    EXPECT_NE(Printed().find("'fathom resume " + model_ + "' goes on"), std::string::npos);
    EXPECT_EQ(LoadModel(model_).summary().reason, StopReason::kInterrupted);
    EXPECT_EQ(LoadCheckpoint(checkpoint_).state.step, LoadModel(model_).summary().steps);
    ExpectGood({"resume", signal == SIGINT ? model_ : checkpoint_, "--log", log_});
    EXPECT_TRUE(Bytes(model_) == whole);
    EXPECT_EQ(LogWithoutTime(log_), whole_log);
    EXPECT_FALSE(fs::exists(checkpoint_));
  }
}

TEST_F(LongRun, ADamagedCheckpointIsRefused) {
  const Arguments endless = FitArguments(model_, {"--steps", "1000000000", "--patience", "0"});
  EXPECT_EQ(Interrupt(endless, {SIGINT}), 128 + SIGINT) << Printed();
  const std::string whole = Bytes(checkpoint_);
  RandomStream stream(3);
  for (int round = 0; round < 30; ++round) {
    std::string changed = whole;
    const auto at = static_cast<std::size_t>(stream.Below(static_cast<Index>(whole.size())));
    changed[at] = static_cast<char>(changed[at] ^ 1 << stream.Below(8));
    folder_.Write("model.fathom.checkpoint", changed);
    ExpectBad({"resume", model_}, "model.fathom.checkpoint");
  }
}

TEST_F(LongRun, ASecondSignalEndsAtOnce) {
  const Arguments endless = FitArguments(model_, {"--steps", "1000000000", "--patience", "0"});
  // Stopped, so that both are waiting when the program runs again.
  const int code = Interrupt(endless, {SIGSTOP, SIGINT, SIGTERM, SIGCONT});
  EXPECT_TRUE(code == 1000 + SIGINT || code == 1000 + SIGTERM) << code << " " << Printed();
  EXPECT_FALSE(fs::exists(model_));
}

// A step of a network as wide as this takes longer than anybody waits for it.
TEST_F(LongRun, ALongStepIsNotWaitedFor) {
  const pid_t child = StartQuietly({"fit", train_, "--target", "y", "-o", model_, "--hidden",
                                    "1000,1000", "--inducing", "100", "--stack", "never"});
  while (!Catches(child, SIGINT) && ::kill(child, 0) == 0) ::poll(nullptr, 0, 1);
  ::kill(child, SIGINT);
  EXPECT_EQ(ExitCode(child), 128 + SIGINT) << Printed();
  EXPECT_NE(Printed().find("interrupted within a long step"), std::string::npos) << Printed();
  EXPECT_FALSE(fs::exists(model_));
}

TEST_F(LongRun, ResumeWantsTheSameTable) {
  const Arguments endless = FitArguments(model_, {"--steps", "1000000000", "--patience", "0"});
  ASSERT_EQ(Interrupt(endless, {SIGINT}), 130);
  ExpectBad({"resume", model_, "--steps", "5"}, "not finished");
  const std::string moved = folder_.Path("moved.csv");
  fs::rename(train_, moved);
  ExpectBad({"resume", model_}, "train.csv");
  folder_.Write("train.csv", LongCsv(200, 2));
  ExpectBad({"resume", model_}, "train.csv: is not the table that the training began with");
  folder_.Write("train.csv", LongCsv(201, 1));
  ExpectBad({"resume", model_}, "201 rows instead of 200");
  ExpectBad({"resume", model_, "--data", moved, "--log", moved}, "moved.csv");
  EXPECT_EQ(TestFolder::Read(moved), LongCsv(200, 1));
  ExpectGood({"resume", model_, "--data", moved, "--time-budget", "0.01s"});
  EXPECT_EQ(LoadModel(model_).summary().reason, StopReason::kTimeBudget);
}

TEST_F(LongRun, ATableFromStandardInputIsGivenAgain) {
  Arguments fit = FitArguments(model_);
  fit[1] = "-";
  const int in = ::open(train_.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(Run(fit, {.in = in}), 0) << Printed();
  ::close(in);
  ExpectBad({"resume", model_, "--steps", "4"}, "--data");
  ExpectGood({"resume", model_, "--steps", "4", "--data", train_});
  EXPECT_EQ(LoadModel(model_).summary().steps, 64);
}

TEST_F(LongRun, AFinishedModelIsTrainedFurther) {
  ExpectBad({"resume", model_}, "model.fathom");
  ExpectGood(FitArguments(model_, {"--log", log_}));
  ExpectBad({"resume", model_}, "--steps N");
  ExpectBad({"resume", model_, "--steps", "0"}, "--steps");
  ExpectBad({"resume", model_, "--steps", "4", "--time-budget", "soon"}, "--time-budget");
  const double before = LoadModel(model_).summary().energy_per_row;
  ExpectGood({"resume", model_, "--steps", "100", "--log", log_});
  EXPECT_EQ(LoadModel(model_).summary().steps, 160);
  EXPECT_GT(LoadModel(model_).summary().energy_per_row, before);
  const std::vector<Json> lines = LogWithoutTime(log_);
  ASSERT_EQ(lines.size(), 41U);
  for (std::size_t e = 0; e < 40; ++e) EXPECT_EQ(lines[e]["step"], 4 * (e + 1));
}

TEST_F(LongRun, ANewFitDoesNotMeetAnOldCheckpoint) {
  folder_.Write("model.fathom.checkpoint", "old");
  ExpectBad({"resume", model_}, "model.fathom.checkpoint");
  ExpectBad(FitArguments(model_, {"--alpha", "7"}), "alpha");
  ExpectBad(FitArguments(model_, {"--likelihood", "poisson"}), "poisson");
  EXPECT_EQ(TestFolder::Read(checkpoint_), "old") << "a fit that cannot begin loses nothing";
  ExpectGood(FitArguments(model_));
  EXPECT_FALSE(fs::exists(checkpoint_));
}

TEST_F(LongRun, LogsThatCannotBeWritten) {
  ExpectBad(FitArguments(model_, {"--log", "/no/such/folder/log"}), "/no/such/folder/log");
  ExpectBad(FitArguments(model_, {"--log", train_}), "train.csv");
  ExpectBad(FitArguments(model_, {"--log", model_}), "model.fathom");
  EXPECT_EQ(TestFolder::Read(train_), LongCsv(200, 1));
  EXPECT_FALSE(fs::exists(model_));
  // The training is worth more than its log, but the script is told.
  EXPECT_EQ(Run(FitArguments(model_, {"--log", "/dev/full"})), 2);
  EXPECT_NE(Printed().find("fathom: /dev/full: cannot write the log"), std::string::npos);
  EXPECT_EQ(LoadModel(model_).summary().steps, 60);
  ExpectBad({"resume", model_, "--steps", "4", "--log", folder_.Write("notes", "not a log\n")},
            "not the log of a training");
  EXPECT_EQ(TestFolder::Read(folder_.Path("notes")), "not a log\n");
}

TEST_F(LongRun, AFullDiskIsAnErrorAndLosesNothing) {
  ExpectGood(FitArguments(model_));
  const std::string before = TestFolder::Read(model_);
  const std::size_t files = folder_.CountFiles();
  // Room for the report but not for a model: as on a full disk, but for the reason.
  const StartOptions full{.file_size = 4000};
  EXPECT_EQ(Run(FitArguments(model_, {"--checkpoint-every", "0.000001s"}), full), 2);
  EXPECT_NE(Printed().find("the training goes on without a checkpoint"), std::string::npos);
  EXPECT_NE(Printed().find("model.fathom: cannot write the file: File too large"),
            std::string::npos)
      << Printed();
  EXPECT_EQ(CountLines(Printed()), 2U) << Printed();
  EXPECT_EQ(TestFolder::Read(model_), before);
  EXPECT_EQ(folder_.CountFiles(), files) << "no half files";
}

// Kills the program at random moments of fit, save and resume until 100 kills have hit it. After
// each the files are whole, and whatever was killed on its way, the model is the same.
TEST_F(LongRun, AHundredKillsLoseNothing) {
  // A checkpoint after each step, so that most kills hit one that is being written.
  const Arguments often = {"--checkpoint-every", "0.000001s", "--log", log_};
  const Arguments fit = FitArguments(model_, Join(often, {"--steps", "24"}));
  const Stopwatch watch;
  ExpectGood(fit);
  const double duration = watch.Seconds();
  const std::string whole = Bytes(model_);
  const std::vector<Json> whole_log = LogWithoutTime(log_);
  fs::remove(model_);
  RandomStream moments(42);
  int kills = 0;
  int resumed = 0;
  int finished = 0;
  while (kills < 100) {
    const bool goes_on = fs::exists(checkpoint_);
    const pid_t child = StartQuietly(goes_on ? Join({"resume", model_}, often) : fit);
    const int alive = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    ASSERT_GE(alive, 0);
    const auto moment = static_cast<std::int64_t>(1e9 * duration * moments.Uniform());
    const timespec wait = {moment / 1'000'000'000, moment % 1'000'000'000};
    pollfd ended = {alive, POLLIN, 0};
    const bool running = ::ppoll(&ended, 1, &wait, nullptr) == 0;
    const int signal = kills % 3 == 0 ? SIGINT : SIGKILL;
    if (running) ::kill(child, signal);
    const int code = ExitCode(child);
    ::close(alive);
    kills += running ? 1 : 0;
    resumed += goes_on ? 1 : 0;
    EXPECT_TRUE(code == 0 || (running && (code == 128 + signal || code == 1000 + signal)))
        << code << " " << Printed();
    EXPECT_NO_THROW(fs::exists(model_) ? void(LoadModel(model_)) : void());
    EXPECT_NO_THROW(fs::exists(checkpoint_) ? void(LoadCheckpoint(checkpoint_)) : void());
    if (code != 0) continue;
    ++finished;
    EXPECT_TRUE(Bytes(model_) == whole);
    EXPECT_EQ(LogWithoutTime(log_), whole_log);
    EXPECT_FALSE(fs::exists(checkpoint_));
    fs::remove(model_);
  }
  // The table, the model, its checkpoint and log, and two files of this test. A kill between the
  // two last system calls of a commit leaves a file behind, which is whole.
  std::size_t left_behind = 0;
  for (const auto& entry : fs::directory_iterator(folder_.Path(""))) {
    const std::string path = entry.path().string();
    if (path.find(".tmp-") == std::string::npos) continue;
    ++left_behind;
    EXPECT_NO_THROW(path.starts_with(log_)          ? void(LogWithoutTime(path))
                    : path.starts_with(checkpoint_) ? void(LoadCheckpoint(path))
                                                    : void(LoadModel(path)))
        << path;
  }
  EXPECT_LE(left_behind, 67U) << "of the kills that no program can catch";
  std::string files;
  for (const auto& entry : fs::directory_iterator(folder_.Path("")))
    files += entry.path().filename().string() + " ";
  EXPECT_LE(folder_.CountFiles() - left_behind, 6U) << files;
  EXPECT_GT(resumed, 20);
  EXPECT_GT(finished, 2);
}

}  // namespace
}  // namespace fathom
