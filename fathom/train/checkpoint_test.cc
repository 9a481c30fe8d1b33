#include "fathom/train/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "fathom/base/random.h"
#include "fathom/fit/resume.h"
#include "fathom/fitted/predictor.h"
#include "fathom/io/safetensors.h"
#include "tests/support/changed_model.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

DatasetParts Product(Index rows = 50) {
  RandomStream stream(1);
  DatasetParts data;
  data.source = "product.csv";
  data.schema = NumericSchema({"a", "b"}, {"y"});
  data.inputs = Moments::Certain(stream.NormalMatrix(rows, 2));
  data.targets = data.inputs.mean.rowwise().prod();
  return data;
}

Recipe SixtySteps() {
  Recipe recipe;
  recipe.stack = Stacking::kNever;
  recipe.architecture.hidden = {2};
  recipe.architecture.inducing = {6, 5};
  recipe.optimizer.steps = 60;
  recipe.optimizer.warm_up = 5;
  recipe.optimizer.batch_size = 16;
  recipe.threads = 1;
  return recipe;
}

FitControl StopTraining(Index step, const std::string& checkpoint = "") {
  FitControl control;
  control.callback = [step](const Progress& progress) { return progress.step < step; };
  control.checkpoint = checkpoint;
  control.checkpoint_interval = HUGE_VAL;
  return control;
}

// The file of a model but for the time that its training took.
std::string Bytes(const Model& model) {
  const TestFolder folder;
  SaveModel(WithoutTime(model), folder.Path("m"));
  return TestFolder::Read(folder.Path("m"));
}

TEST(Resume, EndsWithTheBitsOfATrainingThatWasNeverStopped) {
  const TestFolder folder;
  const std::string path = folder.Path("m.checkpoint");
  Recipe shared = SixtySteps();
  shared.architecture.shared = true;
  shared.architecture.linear_mean = true;
  Recipe flat = SixtySteps();
  flat.optimizer.patience = 10;
  flat.optimizer.tolerance = 10;  // nothing is an improvement
  flat.optimizer.cool_down = 20;
  Recipe precise = SixtySteps();
  precise.start.output_noise = 1e-3;
  precise.low_noise_steps = 90;
  for (const Recipe& recipe : {SixtySteps(), shared, flat, precise}) {
    const std::string whole = Bytes(Fit(Product(), recipe));
    // After 26 steps there is a point to fall back to; after 27 the plateau rule has struck; after
    // 30 the training is seen to be precise.
    for (const Index stop : {1, 26, 27, 28, 30}) {
      Fit(Product(), recipe, StopTraining(stop, path));
      Model model = Resume(Product(), LoadCheckpoint(path), StopTraining(stop + 2, path));
      EXPECT_EQ(model.summary().reason, StopReason::kInterrupted);
      EXPECT_EQ(model.summary().steps, stop + 2);
      EXPECT_EQ(Bytes(Resume(Product(), LoadCheckpoint(path))), whole) << "stopped at " << stop;
    }
  }
}

TEST(Fit, TakesMoreStepsWhereTheNoiseProvesSmall) {
  Recipe recipe = SixtySteps();
  recipe.low_noise_steps = 90;
  recipe.start.output_noise = 1e-3;
  EXPECT_EQ(Fit(Product(), recipe).summary().steps, 90);
  recipe.start.output_noise = 1;
  EXPECT_EQ(Fit(Product(), recipe).summary().steps, 60);
  recipe.low_noise_steps = 0;  // the steps are given
  recipe.start.output_noise = 1e-3;
  EXPECT_EQ(Fit(Product(), recipe).summary().steps, 60);
  recipe.optimizer.steps = 0;
  recipe.effort = 0.02;  // of 500 steps and four times as many
  EXPECT_EQ(Fit(Product(), recipe).summary().steps, 40);
}

TEST(Resume, AnyNumberOfThreadsGivesTheSameBits) {
  const TestFolder folder;
  const std::string path = folder.Path("m.checkpoint");
  Fit(Product(), SixtySteps(), StopTraining(20, path));
  Checkpoint checkpoint = LoadCheckpoint(path);
  const Model one = Resume(Product(), checkpoint);
  checkpoint.network.recipe.threads = 2;
  const Model two = Resume(Product(), checkpoint);
  const Moments x = Product().inputs;
  EXPECT_EQ(ModelPredictor(one).Predict(x).Mean(), ModelPredictor(two).Predict(x).Mean());
}

TEST(Resume, RefusesAnotherTable) {
  const TestFolder folder;
  const std::string path = folder.Path("m.checkpoint");
  Fit(Product(), SixtySteps(), StopTraining(3, path));
  const auto error = [&](const DatasetParts& data) {
    return ErrorOf([&] { Resume(data, LoadCheckpoint(path)); });
  };
  EXPECT_NE(error(Product(51)).find("51 rows instead of 50"), std::string::npos);
  DatasetParts data = Product();
  data.inputs.mean(7, 1) += 1e-12;
  EXPECT_NE(error(data).find("product.csv: is not the table"), std::string::npos);
  EXPECT_NE(error(data).find("cells differ"), std::string::npos);
  data = Product();
  data.schema = NumericSchema({"b", "a"}, {"y"});
  EXPECT_NE(error(data).find("'b', 'a' instead of 'a', 'b'"), std::string::npos);
  data = Product();
  data.schema = NumericSchema({"a", "b"}, {"z"});
  EXPECT_NE(error(data).find("'z' instead of 'y'"), std::string::npos);
}

TEST(Resume, TimeBeforeTheStopCountsForTheBudget) {
  const TestFolder folder;
  Recipe recipe = SixtySteps();
  recipe.optimizer.time_budget = 1000;
  FitControl control = StopTraining(3, folder.Path("c"));
  control.seconds_before = 900;
  Fit(Product(), recipe, control);
  FitControl again;
  again.seconds_before = 101;
  const Model model = Resume(Product(), LoadCheckpoint(folder.Path("c")), again);
  EXPECT_EQ(model.summary().reason, StopReason::kTimeBudget);
  EXPECT_EQ(model.summary().steps, 3);
  EXPECT_GT(model.summary().seconds, 1001);
}

TEST(Fit, ATimeBudgetIsUsedUnlessStepsAreGiven) {
  Recipe recipe = SixtySteps();
  recipe.optimizer.time_budget = 1000;
  FitControl control;
  Index planned = 0;
  control.callback = [&](const Progress& progress) {
    planned = progress.steps;
    return false;
  };
  Fit(Product(), recipe, control);
  EXPECT_EQ(planned, 60);
  recipe.optimizer.steps = 0;
  Model model = Fit(Product(), recipe, control);
  EXPECT_EQ(planned, 4 * DefaultSteps(50));
  Resume(Product(), StartAgain(model, 0), control);  // without a budget
  EXPECT_EQ(planned, 1 + DefaultSteps(50));
}

TEST(StartAgain, ImprovesAFinishedModel) {
  const Model first = Fit(Product(), SixtySteps());
  std::vector<double> rates;
  FitControl control;
  control.callback = [&](const Progress& progress) {
    EXPECT_EQ(progress.step, 61 + static_cast<Index>(rates.size()));
    EXPECT_EQ(progress.steps, 260);
    rates.push_back(progress.rate);
    return true;
  };
  const Model second = Resume(Product(), StartAgain(first, 200), control);
  EXPECT_EQ(second.summary().steps, 260);
  EXPECT_GT(second.summary().energy_per_row, first.summary().energy_per_row);
  EXPECT_NEAR(rates[0], 0.05 / 5, 1e-12);  // the first of five steps of warm-up
  EXPECT_LT(rates.back(), 1e-4);

  const TestFolder folder;
  Resume(Product(), StartAgain(first, 200), StopTraining(100, folder.Path("c")));
  EXPECT_EQ(Bytes(Resume(Product(), LoadCheckpoint(folder.Path("c")))), Bytes(second));
}

TEST(Fit, ReportsEveryEpoch) {
  std::vector<EpochMetrics> epochs;
  FitControl control;
  control.on_epoch = [&](const EpochMetrics& metrics) { epochs.push_back(metrics); };
  const Model model = Fit(Product(), SixtySteps(), control);
  ASSERT_EQ(epochs.size(), 20U);  // 60 steps, three batches of 16 in 50 rows
  for (std::size_t e = 0; e < epochs.size(); ++e) {
    EXPECT_EQ(epochs[e].epoch, static_cast<Index>(e) + 1);
    EXPECT_EQ(epochs[e].step, 3 * (static_cast<Index>(e) + 1));
    EXPECT_GT(epochs[e].learning_rate, 0);
    ASSERT_EQ(epochs[e].noise_std.size(), 1);
    EXPECT_GT(epochs[e].noise_std[0], 0);
  }
  EXPECT_GT(epochs.back().energy_per_row, epochs.front().energy_per_row);
}

TEST(Fit, ACheckpointThatCannotBeWrittenNeedNotEndTheTraining) {
  FitControl control;
  control.checkpoint = "/no/such/folder/c";
  control.checkpoint_interval = 0;
  EXPECT_THROW(Fit(Product(), SixtySteps(), control), Error);
  int failures = 0;
  control.on_checkpoint_failure = [&](const std::string& message) {
    EXPECT_NE(message.find("/no/such/folder/c"), std::string::npos) << message;
    ++failures;
  };
  EXPECT_EQ(Bytes(Fit(Product(), SixtySteps(), control)), Bytes(Fit(Product(), SixtySteps())));
  EXPECT_EQ(failures, 60);
}

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() {
    Fit(Product(), SixtySteps(), StopTraining(30, path_));
    content_ = ReadSafeTensors(path_);
    numbers_ = Json::parse(content_.metadata["optimizer"]);
  }
  void ExpectRefused(const std::string& because) {
    content_.metadata["optimizer"] = numbers_.dump();
    WriteSafeTensors(path_, content_);
    ExpectFileRefused(because);
  }
  void ExpectFileRefused(const std::string& because) const {
    const std::string error = ErrorOf([&] { LoadCheckpoint(path_); });
    EXPECT_TRUE(error.starts_with(path_ + ": ")) << error;
    EXPECT_NE(error.find(because), std::string::npos) << error;
  }

  TestFolder folder_;
  const std::string path_ = folder_.Path("c");
  SafeTensors content_;
  Json numbers_;
};

TEST_F(CheckpointFile, ComesBackAndIsAModelToo) {
  const Checkpoint checkpoint = LoadCheckpoint(path_);
  EXPECT_EQ(checkpoint.state.step, 30);
  EXPECT_EQ(checkpoint.state.fallback.step, 25);
  SaveCheckpoint(checkpoint, folder_.Path("again"));
  EXPECT_EQ(TestFolder::Read(path_), TestFolder::Read(folder_.Path("again")));
  const Moments x = Product().inputs;
  EXPECT_EQ(ModelPredictor(LoadModel(path_)).Predict(x).Mean(),
            ModelPredictor(Fit(Product(), SixtySteps(), StopTraining(30))).Predict(x).Mean());
}

TEST_F(CheckpointFile, ModelsAreRefused) {
  SaveModel(LoadModel(path_), path_);
  ExpectFileRefused("without the state of its training");
}

TEST_F(CheckpointFile, TruncatedAnywhere) {
  const std::string bytes = TestFolder::Read(path_);
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 50) {
    folder_.Write("c", bytes.substr(0, size));
    ExpectFileRefused("");
  }
}

TEST_F(CheckpointFile, ArraysThatDoNotFit) {
  const SafeTensors good = content_;
  for (const char* name : {"optimizer.parameters", "optimizer.fallback.second"}) {
    content_.tensors.erase(name);
    ExpectRefused("is missing");
    content_ = good;
    content_.tensors[name].shape = {1};
    content_.tensors[name].values = {1};
    ExpectRefused("wrong shape");
    content_ = good;
    content_.tensors[name].values[0] = std::numeric_limits<double>::quiet_NaN();
    ExpectRefused("not finite");
    content_ = good;
  }
  content_.tensors["optimizer.second"].values[1] = -1;
  ExpectRefused("negative");
  content_ = good;
  content_.tensors["optimizer.third"] = {{1}, {1}};
  ExpectRefused("does not belong");
}

TEST_F(CheckpointFile, NumbersThatDoNotFit) {
  const Json good = numbers_;
  const auto refused = [&](const char* name, const Json& value, const std::string& because) {
    numbers_[name] = value;
    ExpectRefused(because);
    numbers_ = good;
  };
  refused("step", -1, "do not fit");
  refused("step", std::numeric_limits<Index>::max(), "do not fit");
  refused("fallback.step", -7, "do not fit");
  refused("first_step", 31, "do not fit");
  refused("updates", -1, "do not fit");
  refused("best_step", 31, "do not fit");
  refused("cool_down_from", 31, "do not fit");
  refused("smoothed", "NaN", "not finite");
  refused("step", "thirty", "step must be a whole number");
  refused("rate_scale", 0, "not usable");
  refused("recoveries", -1, "not usable");
  refused("seconds", "Infinity", "not usable");
  numbers_.erase("seconds");
  ExpectRefused("has no 'seconds'");
  numbers_ = Json::array();
  ExpectRefused("not JSON");
  content_.metadata["optimizer"] = "{\"step\":" + std::string(100000, '[');
  WriteSafeTensors(path_, content_);
  ExpectFileRefused("nested too deeply");
}

TEST(Update, TrainsFurtherOnOtherRowsOfTheSameColumns) {
  const Model first = Fit(Product(), SixtySteps());
  const Model second = Update(first, Product(80), 40);
  EXPECT_EQ(second.summary().steps, 100);
  EXPECT_EQ(second.summary().rows, 80);
  DatasetParts other = Product();
  other.schema = NumericSchema({"a", "c"}, {"y"});
  EXPECT_NE(ErrorOf([&] { Update(first, other, 40); }).find("'a', 'b' and 'y'"), std::string::npos);
}

}  // namespace
}  // namespace fathom
