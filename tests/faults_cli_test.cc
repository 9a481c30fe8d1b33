// Every call that can fail does: the k-th write, fsync, rename, link, mapping or allocation, for
// each k. Whatever fails, old files are whole, nothing is left behind, and one line says why.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "fathom/fitted/model.h"
#include "fathom/train/checkpoint.h"
#include "study/results_file.h"
#include "tests/support/places.h"
#include "tests/support/program.h"

namespace fathom {
namespace {

using Files = std::map<std::string, std::string>;

class Faults : public ProgramTest {
 protected:
  // The files that a command may touch, and what they hold.
  Files Snapshot() const {
    Files files;
    for (const auto& entry : std::filesystem::directory_iterator(File("place")))
      files[entry.path().filename()] = TestFolder::Read(entry.path());
    return files;
  }

  // A model says how many seconds it took, so that no two are the same; one that loads is whole.
  bool IsWhole(const std::string& name, const std::string& content, const Files& finished) const {
    if (!name.ends_with(".fathom")) return finished.contains(name) && finished.at(name) == content;
    try {
      LoadModel(File("place/" + name));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  // The program with the k-th call of `call` failing. Whether there was such a call.
  bool RunWithFault(const Arguments& arguments, const std::string& call, long k, Outcome* outcome) {
    const std::string fired = File("fired");
    std::filesystem::remove(fired);
    ::setenv("LD_PRELOAD", FaultsLibrary(), 1);
    ::setenv("FATHOM_FAULT", (call + " " + std::to_string(k)).c_str(), 1);
    ::setenv("FATHOM_FAULT_FILE", fired.c_str(), 1);
    *outcome = Run(arguments);
    for (const char* name : {"LD_PRELOAD", "FATHOM_FAULT", "FATHOM_FAULT_FILE"}) ::unsetenv(name);
    return std::filesystem::exists(fired);
  }

  // Tries k = 1, 2, ... up to the last call, of allocations some. `finished`: the files after a
  // command without faults. Returns how many faults there were.
  long TryAll(const Arguments& arguments, const std::string& call, const Files& before,
              const Files& finished) {
    long faults = 0;
    for (long k = 1;; k += call == "malloc" ? 1 + k / 8 : 1) {
      SCOPED_TRACE(call + " " + std::to_string(k));
      std::filesystem::remove_all(File("place"));
      std::filesystem::create_directory(File("place"));
      for (const auto& [name, content] : before) folder_.Write("place/" + name, content);
      Outcome outcome;
      if (!RunWithFault(arguments, call, k, &outcome)) {
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return faults;
      }
      ++faults;
      EXPECT_LT(outcome.code, 4) << "a signal: " << outcome.err;
      const std::size_t lines = CountLines(outcome.err);
      EXPECT_TRUE(lines == (outcome.code == 0 ? 0U : 1U) || (with_checkpoints_ && lines <= 2U))
          << outcome.err;
      Files after = Snapshot();
      const auto checkpoint = after.find("model.fathom.checkpoint");
      if (with_checkpoints_ && outcome.code != 0 && checkpoint != after.end()) {
        EXPECT_NO_THROW(LoadCheckpoint(File("place/model.fathom.checkpoint")));
        after.erase(checkpoint);
      }
      EXPECT_EQ(after.size(), before.size()) << "something is left behind, or gone";
      for (const auto& [name, content] : after) {
        const bool old = before.contains(name) && before.at(name) == content;
        const bool made = IsWhole(name, content, finished);
        EXPECT_TRUE(old || made) << name << " is neither the old file nor the new one";
      }
      if (HasFailure()) return faults;
    }
  }

  // All calls that a command makes, and writes that take less than they were given.
  void TryEverything(const Arguments& arguments) {
    const Files before = Snapshot();
    ASSERT_EQ(Run(arguments).code, 0);
    const Files finished = Snapshot();
    std::map<std::string, long> faults;
    for (const std::string call :
         {"write", "short", "fsync", "rename", "linkat", "mmap", "malloc"}) {
      faults[call] = TryAll(arguments, call, before, finished);
      std::printf("%s: %ld faults\n", call.c_str(), faults[call]);
    }
    EXPECT_GT(faults["write"], 0);
    EXPECT_GT(faults["malloc"], 20);
  }

  // A checkpoint that is lost is a warning; one that is there when the rest fails is kept.
  bool with_checkpoints_ = false;
};

TEST_F(Faults, FitKeepsTheOldModelOrWritesTheNewOne) {
  std::filesystem::create_directory(File("place"));
  folder_.Write("place/model.fathom", "an old model");
  TryEverything({"fit", train_, "--target", "y", "-o", File("place/model.fathom"), "--steps", "2",
                 "--hidden", "0", "--inducing", "3", "--threads", "1"});
}

TEST_F(Faults, PredictKeepsTheOldFileOrWritesTheNewOne) {
  ASSERT_EQ(Run(FitArguments(train_, model_, {"--hidden", "0"})).code, 0);
  std::filesystem::create_directory(File("place"));
  folder_.Write("place/out.csv", "old predictions");
  TryEverything({"predict", model_, train_, "-o", File("place/out.csv"), "--threads", "1"});
}

TEST_F(Faults, FitWithCheckpointsEndsWithOrWithoutThem) {
  std::filesystem::create_directory(File("place"));
  folder_.Write("place/model.fathom", "an old model");
  with_checkpoints_ = true;
  TryEverything({"fit", train_, "--target", "y", "-o", File("place/model.fathom"), "--steps", "3",
                 "--hidden", "0", "--inducing", "3", "--threads", "1", "--checkpoint-every",
                 "0.000001s"});
}

TEST_F(Faults, BenchKeepsTheLinesThatItHas) {
  std::filesystem::create_directories(File("data/one"));
  folder_.Write("data/one/data.csv", Csv(30, 3));
  folder_.Write("data/one/test_indices.txt", "0 5 7\n");
  const std::string study = folder_.Write(
      "study.toml", "datasets = [\"one\"]\n[gp]\nhidden = 0\ninducing = 3\nsteps = 2\n");
  const Arguments bench = {"bench", study,        "--data",    File("data"),
                           "--out", File("made"), "--threads", "1"};
  for (const std::string call : {"write", "short", "fsync", "mmap", "malloc"}) {
    long faults = 0;
    for (long k = 1;; k += call == "malloc" ? 1 + k / 4 : 1) {
      SCOPED_TRACE(call + " " + std::to_string(k));
      std::filesystem::remove_all(File("made"));
      Outcome outcome;
      if (!RunWithFault(bench, call, k, &outcome)) break;
      ++faults;
      EXPECT_LT(outcome.code, 4) << "a signal: " << outcome.err;
      EXPECT_LE(CountLines(outcome.err), 2U) << outcome.err;
      // What is there can be read, and a second run makes it whole.
      EXPECT_LE(ReadResults(File("made")).size(), 1U);
      EXPECT_EQ(Run(Join(bench, {"--retry-failed"})).code, 0);
      EXPECT_EQ(ReadResults(File("made")).size(), 1U);
      ASSERT_FALSE(HasFailure());
    }
    std::printf("%s: %ld faults\n", call.c_str(), faults);
  }
}

TEST_F(Faults, ATableThatShrinksWhileItIsReadIsTold) {
  Outcome outcome;
  ASSERT_TRUE(RunWithFault({"inspect", train_}, "shrink", 1, &outcome));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(CountLines(outcome.err), 1U) << outcome.err;
  EXPECT_NE(outcome.err.find("shorter"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace fathom
