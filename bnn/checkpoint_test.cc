#include "bnn/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "bnn/expert.h"
#include "bnn/fit.h"
#include "bnn/job.h"
#include "fathom/base/error.h"
#include "fathom/io/safetensors.h"
#include "tests/support/changed_model.h"
#include "tests/support/every_baseline.h"
#include "tests/support/test_folder.h"

namespace fathom::bnn {
namespace {

Dataset ProductRows(Index rows) {
  RandomStream stream(1);
  DatasetParts parts;
  parts.source = "product.csv";
  parts.schema = NumericSchema({"a", "b"}, {"y"});
  parts.inputs = Moments::Certain(stream.NormalMatrix(rows, 2));
  parts.targets = parts.inputs.mean.rowwise().prod();
  return parts;
}

// Every stage of every method, in a moment.
BaselineOptions Shortest(Baseline method) {
  BaselineOptions options{.method = method, .hidden = {3}};
  options.steps = method == Baseline::kSgld ? 60 : 50;
  options.epochs = 4;
  options.burn_in = 8;
  options.draws = 6;
  options.chains = 2;
  options.threads = 1;
  return options;
}

// The file of a model but for the time that its fit took.
std::string FileOf(const Model& model) {
  const TestFolder folder;
  SaveModel(WithoutTime(model), folder.Path("m"));
  return TestFolder::Read(folder.Path("m"));
}

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

class InterruptedBaseline : public testing::TestWithParam<Baseline> {
 protected:
  InterruptedBaseline() { RegisterNetworkExpert(); }

  // How often a whole fit asks whether to go on.
  Index Calls() const {
    Index calls = 0;
    const auto count = [&](double) { return ++calls > 0; };
    FitBaseline(rows_, Shortest(GetParam()), {.callback = count});
    return calls;
  }

  Dataset rows_ = ProductRows(30);
  TestFolder folder_;
  std::string path_ = folder_.Path("m.checkpoint");
};
INSTANTIATE_TEST_SUITE_P(All, InterruptedBaseline, AllBaselines(), BaselineTestName);

// Stops a fit at that call and all that follow, until it is finished.
Model InPieces(const Dataset& rows, const BaselineOptions& options, Index calls_each,
               const std::string& path) {
  bool first = true;
  for (int piece = 0; piece < 100; ++piece) {
    Index calls = 0;
    const BaselineControl control{.callback = [&](double) { return ++calls < calls_each; },
                                  .checkpoint = path,
                                  .checkpoint_interval = HUGE_VAL};
    try {
      Model model = first ? FitBaseline(rows, options, control)
                          : ResumeBaseline(rows, LoadBaselineCheckpoint(path), control);
      if (model.summary().reason == StopReason::kFinished) return model;
    } catch (const StoppedTooEarly&) {
    }
    first = false;
  }
  throw std::runtime_error("it never ends");
}

TEST_P(InterruptedBaseline, AFitInPiecesEndsWithTheBitsOfOneThatWasNeverStopped) {
  const BaselineOptions options = Shortest(GetParam());
  const std::string whole = FileOf(FitBaseline(rows_, options));
  const Index calls = Calls();
  EXPECT_EQ(FileOf(InPieces(rows_, options, calls / 2 + 1, path_)), whole);
  EXPECT_EQ(FileOf(InPieces(rows_, options, calls / 9 + 30, path_)), whole);
}

// As a crash does: nothing is written at the end, and only what was written by then counts.
TEST_P(InterruptedBaseline, AFitThatWasKilledGoesOnFromItsLastCheckpoint) {
  const BaselineOptions options = Shortest(GetParam());
  const std::string whole = FileOf(FitBaseline(rows_, options));
  const Index all = Calls();
  // Thousands of steps need not be as many files; the quickest quarter of a fit takes 1 ms.
  const double interval = all < 1000 ? 0 : 1e-4;
  for (const Index part : {1, 3}) {
    Index calls = 0;
    const auto die = [&](double) {
      if (++calls > part * all / 4) throw Killed();
      return true;
    };
    EXPECT_THROW(
        FitBaseline(rows_, options,
                    {.callback = die, .checkpoint = path_, .checkpoint_interval = interval}),
        Killed);
    BaselineCheckpoint checkpoint = LoadBaselineCheckpoint(path_);
    checkpoint.options.threads = 2;
    EXPECT_EQ(FileOf(ResumeBaseline(rows_, std::move(checkpoint))), whole);
  }
}

TEST_P(InterruptedBaseline, ACheckpointWithoutAnArrayIsRefused) {
  Index calls = 0;
  const Index half = Calls() / 2;
  const BaselineControl control{.callback = [&](double) { return ++calls < half; },
                                .checkpoint = path_};
  try {
    FitBaseline(rows_, Shortest(GetParam()), control);
  } catch (const StoppedTooEarly&) {
  }
  BaselineCheckpoint checkpoint = LoadBaselineCheckpoint(path_);
  for (auto& [job, state] : checkpoint.jobs) {
    if (state.contains("step")) state["step"](0, 0) = -1;
    if (state.size() > 1) state.erase("weights");
    state.erase("weights.mean");
    state.erase("parameters");
  }
  EXPECT_THROW(ResumeBaseline(rows_, std::move(checkpoint)), Error);
}

std::string ErrorOf(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

// A checkpoint of a fit of PBP that has done some rows.
class BaselineCheckpointFile : public testing::Test {
 protected:
  BaselineCheckpointFile() {
    Index calls = 0;
    FitBaseline(rows_, Shortest(Baseline::kPbp),
                {.callback = [&](double) { return ++calls < 50; }, .checkpoint = path_});
  }
  std::string LoadChanged(const std::function<void(SafeTensors*)>& change) {
    SafeTensors content = ReadSafeTensors(path_);
    content.metadata.erase(kChecksum);
    change(&content);
    const std::string bytes = SafeTensorsToBytes("m", content);
    return ErrorOf([&] { BaselineCheckpointFromBytes("m.checkpoint", bytes); });
  }

  Dataset rows_ = ProductRows(30);
  TestFolder folder_;
  std::string path_ = folder_.Path("m.checkpoint");
};

TEST_F(BaselineCheckpointFile, ADamagedOneIsAnErrorOfOneLine) {
  EXPECT_TRUE(IsBaselineCheckpoint(path_));
  const std::string bytes = TestFolder::Read(path_);
  for (const std::size_t length : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    const std::string error =
        ErrorOf([&] { BaselineCheckpointFromBytes("m.checkpoint", bytes.substr(0, length)); });
    EXPECT_TRUE(error.starts_with("m.checkpoint: ")) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  std::string flipped = bytes;
  flipped[bytes.size() - 9] ^= 1;
  EXPECT_NE(ErrorOf([&] { BaselineCheckpointFromBytes("m", flipped); }), "none");
}

TEST_F(BaselineCheckpointFile, WhatItDescribesMustBeThere) {
  EXPECT_EQ(LoadChanged([](SafeTensors*) {}), "none");
  EXPECT_NE(LoadChanged([](SafeTensors* content) {
              content->metadata["baseline"] = "{";
            }).find("is not a usable checkpoint"),
            std::string::npos);
  EXPECT_NE(LoadChanged([](SafeTensors* content) {
              content->metadata["baseline"] = "{}";
            }).find("'version'"),
            std::string::npos);
  EXPECT_NE(LoadChanged([](SafeTensors* content) {
              content->metadata.erase("baseline");
            }).find("no baseline"),
            std::string::npos);
  EXPECT_NE(LoadChanged([](SafeTensors* content) {
              content->tensors["x"] = {{1}, {1}};
            }).find("'x' belongs to nothing"),
            std::string::npos);
}

TEST_F(BaselineCheckpointFile, AnotherTableIsRefused) {
  EXPECT_NE(ErrorOf([&] {
              ResumeBaseline(ProductRows(29), LoadBaselineCheckpoint(path_));
            }).find("it has 29 rows instead of 30"),
            std::string::npos);
  DatasetParts changed = ProductRows(30).parts();
  changed.targets(3, 0) += 1;
  EXPECT_NE(ErrorOf([&] {
              ResumeBaseline(changed, LoadBaselineCheckpoint(path_));
            }).find("product.csv: is not the table"),
            std::string::npos);
}

TEST_F(BaselineCheckpointFile, OneThatCannotBeWrittenIsTold) {
  const std::string nowhere = folder_.Path("no/such/m.checkpoint");
  int told = 0;
  const Model model = FitBaseline(rows_, Shortest(Baseline::kPbp),
                                  {.checkpoint = nowhere,
                                   .checkpoint_interval = 0,
                                   .on_checkpoint_failure = [&](const std::string& message) {
                                     told += message.find(nowhere) != std::string::npos ? 1 : 0;
                                   }});
  EXPECT_GT(told, 0);
  EXPECT_EQ(model.summary().reason, StopReason::kFinished);
  EXPECT_NE(ErrorOf([&] {
              FitBaseline(rows_, Shortest(Baseline::kPbp),
                          {.checkpoint = nowhere, .checkpoint_interval = 0});
            }).find(nowhere),
            std::string::npos);
}

TEST(BaselineOptionsJson, ComesBackForEveryMethod) {
  for (const Baseline method : {Baseline::kViG, Baseline::kVi, Baseline::kPbp, Baseline::kDropout,
                                Baseline::kSgld, Baseline::kHmc}) {
    BaselineOptions options = Shortest(method);
    options.seed = 18446744073709551615U;
    EXPECT_EQ(BaselineToJson(BaselineFromJson(BaselineToJson(options))), BaselineToJson(options));
  }
  nlohmann::json json = BaselineToJson(Shortest(Baseline::kVi));
  json["leapfrogs"] = 3;
  EXPECT_NE(ErrorOf([&] { BaselineFromJson(json); }).find("'leapfrogs'"), std::string::npos);
  json.erase("leapfrogs");
  json.erase("samples");
  EXPECT_NE(ErrorOf([&] { BaselineFromJson(json); }).find("'samples'"), std::string::npos);
}

// Two jobs keep their states; the journal writes once both have.
TEST(Journal, WritesWhenEveryRunningJobHasKeptItsState) {
  int written = 0;
  Journal journal({}, 0, [&](const JobStates&) { ++written; });
  journal.Begin("a");
  journal.Begin("b");
  EXPECT_TRUE(journal.Due("a"));
  journal.Keep("a", {});
  EXPECT_FALSE(journal.Due("a"));
  EXPECT_EQ(written, 0);
  EXPECT_TRUE(journal.Due("b"));
  journal.Keep("b", {});
  EXPECT_EQ(written, 1);
  EXPECT_TRUE(journal.Due("a"));
  journal.Keep("a", {});
  journal.End("b");  // without a further state
  EXPECT_FALSE(journal.Due("a"));
  EXPECT_EQ(written, 2);
}

}  // namespace
}  // namespace fathom::bnn
