#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "fathom/base/random.h"
#include "fathom/fit/fit.h"
#include "fathom/fitted/predictor.h"
#include "fathom/io/file_bytes.h"
#include "fathom/io/safetensors.h"
#include "tests/support/changed_model.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

// Two targets of three inputs, one of them with missing cells.
DatasetParts SmallDataset() {
  RandomStream stream(5);
  DatasetParts dataset;
  dataset.source = "small";
  dataset.schema = NumericSchema({"a", "b \"quoted\"", "\u00e7"}, {"y", "z"});
  Matrix x = 10 * stream.NormalMatrix(30, 3);
  x(4, 1) = std::numeric_limits<double>::quiet_NaN();
  dataset.inputs = Moments::Certain(x);
  dataset.inputs.var(4, 1) = std::numeric_limits<double>::quiet_NaN();
  dataset.targets = stream.NormalMatrix(30, 2);
  return dataset;
}

Recipe SmallRecipe() {
  Recipe recipe;
  recipe.stack = Stacking::kNever;
  recipe.architecture.hidden = {2};
  recipe.architecture.inducing = {6, 5};
  recipe.optimizer.steps = 5;
  recipe.optimizer.warm_up = 2;
  recipe.threads = 1;
  recipe.seed = 18446744073709551615ULL;
  return recipe;
}

const Model& SmallModel() {
  static const Model model = Fit(SmallDataset(), SmallRecipe());
  return model;
}

void ExpectSameBits(const Prediction& a, const Prediction& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t s = 0; s < a.components.size(); ++s) {
    EXPECT_EQ(a.components[s].mean, b.components[s].mean);
    EXPECT_EQ(a.components[s].var, b.components[s].var);
    EXPECT_TRUE(a.components[s].mean.allFinite());
  }
}

void ExpectRoundTrip(const Model& model) {
  const TestFolder folder;
  const std::string path = folder.Path("model.fathom");
  SaveModel(model, path);
  const Model loaded = LoadModel(path);
  const Moments inputs = SmallDataset().inputs;
  const ModelPredictor before(model, 1);
  const ModelPredictor after(loaded, 2);
  ExpectSameBits(before.Predict(inputs), after.Predict(inputs));
  const PredictOptions sampled{.samples = 7, .seed = 3};
  ExpectSameBits(before.Predict(inputs, sampled), after.Predict(inputs, sampled));
  EXPECT_EQ(loaded.schema(), model.schema());

  // Equal files: every field of recipe and summary came back.
  SaveModel(loaded, folder.Path("again.fathom"));
  EXPECT_EQ(TestFolder::Read(path), TestFolder::Read(folder.Path("again.fathom")));
}

TEST(ModelFile, WhitenedModelComesBack) { ExpectRoundTrip(SmallModel()); }

TEST(ModelFile, BytesAreThoseOfTheFile) {
  const TestFolder folder;
  SaveModel(SmallModel(), folder.Path("m"));
  const std::string bytes = ModelToBytes(SmallModel());
  EXPECT_EQ(FileBytes(folder.Path("m")).bytes(), bytes);
  EXPECT_EQ(ModelToBytes(ModelFromBytes("memory", bytes)), bytes);
  EXPECT_THROW(ModelFromBytes("memory", bytes.substr(1)), Error);
}

TEST(ModelFile, DirectionsOfTheInputsComeBack) {
  Recipe recipe = SmallRecipe();
  recipe.whitening = Whitening::kAlways;
  const Model model = Fit(SmallDataset(), recipe);
  ASSERT_EQ(model.leader().input_scaler.directions.rows(), 3);
  ExpectRoundTrip(model);
}

TEST(ModelFile, SiteFormComesBack) {
  Recipe recipe = SmallRecipe();
  recipe.architecture.site_form = true;
  recipe.start.start = Start::kPaper;
  ExpectRoundTrip(Fit(SmallDataset(), recipe));
}

TEST(ModelFile, SharedSkipLinksAndLinearMeanComeBack) {
  Recipe recipe = SmallRecipe();
  recipe.architecture.hidden = {2, 3};
  recipe.architecture.shared = true;
  recipe.architecture.skip_links = true;
  recipe.architecture.linear_mean = true;
  ExpectRoundTrip(Fit(SmallDataset(), recipe));
}

TEST(ModelFile, SingleLayerComesBack) {
  Recipe recipe = SmallRecipe();
  recipe.architecture.hidden = {};
  recipe.architecture.inducing = {6};
  ExpectRoundTrip(Fit(SmallDataset(), recipe));
}

TEST(ModelFile, SampledPathsAndPointsComeBack) {
  for (const Propagation propagation : {Propagation::kSamples, Propagation::kPoints}) {
    Recipe recipe = SmallRecipe();
    recipe.architecture.propagation = propagation;
    recipe.architecture.paths = 3;
    recipe.mixture = false;
    ExpectRoundTrip(Fit(SmallDataset(), recipe));
  }
}

TEST(ModelFile, CategoriesComeBack) {
  const TestFolder folder;
  const std::string rows = "sex,colour,x,y\nf,red,1,2\nm,blue,2,4\nf,green,3,5\nm,red,4,7\n";
  const Table table = ReadTable(folder.Write("t.csv", rows));
  const Dataset dataset = MakeDataset(table, {"y"});
  SaveModel(Fit(dataset, SmallRecipe()), folder.Path("m"));
  const Model loaded = LoadModel(folder.Path("m"));
  EXPECT_EQ(loaded.schema(), dataset.schema());
}

TEST(ModelFile, SharedArraysAreWrittenOnce) {
  const TestFolder folder;
  Recipe recipe = SmallRecipe();
  recipe.architecture.shared = true;
  SaveModel(Fit(SmallDataset(), recipe), folder.Path("m"));
  const SafeTensors content = ReadSafeTensors(folder.Path("m"));
  EXPECT_TRUE(content.tensors.contains("experts.0.layers.0.gps.0.Z"));
  EXPECT_FALSE(content.tensors.contains("experts.0.layers.0.gps.1.Z"));
}

TEST(ModelFile, SummaryAndRecipeKeepNumbersThatJsonLacks) {
  const TestFolder folder;
  const Model model = Changed(SmallModel(), [](ModelParts* parts) {
    parts->summary.energy_per_row = -std::numeric_limits<double>::infinity();
    parts->summary.largest_jitter = std::numeric_limits<double>::quiet_NaN();
    parts->summary.reason = StopReason::kConverged;
    parts->summary.message = "a \"message\"";
  });
  SaveModel(model, folder.Path("m"));
  const Model loaded = LoadModel(folder.Path("m"));
  EXPECT_EQ(loaded.summary().energy_per_row, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(loaded.summary().largest_jitter));
  EXPECT_EQ(loaded.summary().reason, StopReason::kConverged);
  EXPECT_EQ(loaded.summary().message, "a \"message\"");
  EXPECT_EQ(loaded.summary().steps, 5);
  EXPECT_EQ(loaded.recipe().seed, 18446744073709551615ULL);
  EXPECT_EQ(loaded.recipe().architecture.inducing, (std::vector<Index>{6, 5}));
}

TEST(Model, RefusesPartsThatDoNotFit) {
  const auto error = [](const auto& change) {
    return ErrorOf([&] { Changed(SmallModel(), change); });
  };
  const auto expect = [&](const auto& change, const std::string& because) {
    const std::string text = error(change);
    EXPECT_NE(text.find(because), std::string::npos) << text;
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  expect([](ModelParts* parts) { parts->members.clear(); }, "no members");
  expect([](ModelParts* parts) { parts->members[0].weight = 0.5; }, "sum to 0.5");
  expect([](ModelParts* parts) { parts->members[0].weight = -1; }, "weight of a member is -1");
  expect([](ModelParts* parts) { parts->members[0].noise_scale = 0; }, "noise scale");
  expect([](ModelParts* parts) { parts->schema.targets.pop_back(); }, "target columns");
  expect([](ModelParts* parts) { parts->schema.inputs.pop_back(); }, "scaled inputs");
  expect([](ModelParts* parts) { parts->schema.targets = {"a", "z"}; }, "'a' is named twice");
  expect([](ModelParts* parts) { parts->members[0].input_scaler.scale[0] = 0; },
         "scaler of the inputs");
  expect(
      [](ModelParts* parts) {
        ChangeNetwork(&parts->members[0],
                      [](DeepGp* network) { network->layers[0].gps[0].Z(0, 0) = kNaN; });
      },
      "layers.0.gps.0.Z");
  expect(
      [](ModelParts* parts) {
        parts->members.push_back(parts->members[0]);
        for (Member& member : parts->members) member.weight = 0.5;
        parts->members[1].input_scaler.mean[0] += 1;
      },
      "share an expert but not its scalers");
}

TEST(Model, RefusesMembersOfDifferentLikelihoods) {
  Recipe recipe = SmallRecipe();
  recipe.architecture.likelihood = "student_t";
  const Model other = Fit(SmallDataset(), recipe);
  const std::string error = ErrorOf([&] {
    Changed(SmallModel(), [&](ModelParts* parts) {
      parts->members.push_back(other.leader());
      for (Member& member : parts->members) member.weight = 0.5;
    });
  });
  EXPECT_NE(error.find("'gaussian' and 'student_t'"), std::string::npos) << error;
}

TEST(ModelFile, UnusableModelDoesNotReplaceAFile) {
  const TestFolder folder;
  const std::string path = folder.Write("m", "precious");
  const Model model =
      Changed(SmallModel(), [](ModelParts* parts) { parts->data.origin = "no UTF-8: \xff"; });
  EXPECT_NE(ErrorOf([&] { SaveModel(model, path); }).find("not UTF-8"), std::string::npos);
  EXPECT_EQ(TestFolder::Read(path), "precious");
  EXPECT_EQ(folder.CountFiles(), 1U);
}

// A model file, changed by the test.
class HostileFile : public testing::Test {
 protected:
  HostileFile() {
    SaveModel(SmallModel(), path_);
    content_ = ReadSafeTensors(path_);
    description_ = Json::parse(content_.metadata.at("model"));
  }

  std::string LoadError() const {
    const std::string error = ErrorOf([&] { LoadModel(path_); });
    EXPECT_TRUE(error.starts_with(path_ + ": ")) << error;
    return error;
  }
  std::string ChangedError() {
    content_.metadata["model"] = description_.dump();
    WriteSafeTensors(path_, content_);
    return LoadError();
  }
  void ExpectRefused(const std::string& because) {
    const std::string error = ChangedError();
    EXPECT_NE(error.find(because), std::string::npos) << error;
  }

  TestFolder folder_;
  std::string path_ = folder_.Path("model.fathom");
  SafeTensors content_;
  Json description_;
};

TEST_F(HostileFile, TruncatedAnywhere) {
  const std::string bytes = TestFolder::Read(path_);
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 20) {
    folder_.Write("model.fathom", bytes.substr(0, length));
    LoadError();
  }
  folder_.Write("model.fathom", bytes.substr(0, bytes.size() - 1));
  LoadError();
}

TEST_F(HostileFile, FlippedHeaderBytesNeverCrash) {
  const std::string bytes = TestFolder::Read(path_);
  for (std::size_t i = 0; i < 2500 && i < bytes.size(); i += 3) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x15);
    folder_.Write("model.fathom", changed);
    try {
      // A digit of the summary may change unnoticed; what loads must still predict.
      const Model model = LoadModel(path_);
      EXPECT_EQ(ModelPredictor(model, 1).Predict(SmallDataset().inputs).outputs(), 2);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
}

TEST_F(HostileFile, FutureVersion) {
  content_.metadata["format_version"] = "8";
  ExpectRefused("written by a newer fathom (format 8); this one reads format 7: upgrade");
}

TEST_F(HostileFile, MembersThatDoNotFitTheExperts) {
  const Json good = description_;
  const auto refused = [&](const std::string& because) {
    ExpectRefused(because);
    description_ = good;
  };
  description_["members"][0]["weight"] = 1.5;
  refused("the weight of a member is 1.5");
  description_["members"][0]["noise_scale"] = "NaN";
  refused("noise scale");
  for (const Json& expert : {Json(1), Json(-1), Json(4'000'000'000'000'000'000)}) {
    description_["members"][0]["expert"] = expert;
    refused("do not list its experts in their order");
  }
  description_["members"] = Json::array();
  refused("an expert of it belongs to no member");
  const SafeTensors one = content_;
  const auto add_second_expert = [&] {
    description_["experts"].push_back(description_["experts"][0]);
    for (const auto& [name, tensor] : one.tensors) {
      if (name.starts_with("experts.0.")) content_.tensors["experts.1." + name.substr(10)] = tensor;
    }
  };
  add_second_expert();
  description_["members"][0]["expert"] = 1;
  refused("do not list its experts in their order");
  description_["experts"].push_back(description_["experts"][0]);
  refused("an expert of it belongs to no member");
  content_ = one;
  description_["experts"] = Json::array();
  refused("do not list its experts in their order");
  description_["experts"][0]["kind"] = "oracle";
  refused("'oracle', which this fathom does not know");
}

TEST_F(HostileFile, ClassesThatDoNotFitTheLikelihood) {
  description_["columns"]["classes"] = {"p", "q"};
  ExpectRefused("there are 2 classes where 0 are needed");
  description_["columns"]["classes"] = {"p", "p"};
  ExpectRefused("a class is named twice");
}

TEST_F(HostileFile, ColumnsThatAreNotTheInputs) {
  description_["columns"]["inputs"][0]["levels"] = {"p", "q", "r"};
  ExpectRefused("has the wrong shape");
  description_["columns"]["unnamed_columns"] = -1;
  ExpectRefused("unnamed columns");
}

TEST_F(HostileFile, OtherFormats) {
  content_.metadata["format_version"] = "x\ny";
  ExpectRefused("format version");
  content_.metadata["format"] = "something else";
  ExpectRefused("not those of a fathom model");
  content_.metadata.clear();
  ExpectRefused("not those of a fathom model");
}

TEST_F(HostileFile, DescriptionThatIsNoJson) {
  content_.metadata["model"] = "{\"layers\": [";
  WriteSafeTensors(path_, content_);
  EXPECT_NE(LoadError().find("not JSON"), std::string::npos);
  content_.metadata["model"] = std::string(100000, '[');
  WriteSafeTensors(path_, content_);
  EXPECT_NE(LoadError().find("nested too deeply"), std::string::npos);
}

TEST_F(HostileFile, MissingAndExtraArrays) {
  const auto node = content_.tensors.extract("experts.0.layers.1.gps.0.theta");
  content_.tensors["experts.0.layers.9.gps.0.theta"] = node.mapped();
  ExpectRefused("'experts.0.layers.1.gps.0.theta' is missing");
  content_.tensors["experts.0.layers.1.gps.0.theta"] = node.mapped();
  ExpectRefused("'experts.0.layers.9.gps.0.theta' does not belong");
}

TEST_F(HostileFile, WrongShapes) {
  for (const auto& [name, tensor] : SafeTensors(content_).tensors) {
    content_.tensors[name].shape.push_back(1);
    ExpectRefused("'" + name + "' has the wrong shape");
    content_.tensors[name] = tensor;
  }
}

TEST_F(HostileFile, NumbersThatCannotBe) {
  const SafeTensors good = content_;
  for (const auto& [name, tensor] : good.tensors) {
    content_.tensors[name].values.back() = std::numeric_limits<double>::quiet_NaN();
    ChangedError();
    content_.tensors[name] = tensor;
  }
  content_.tensors["experts.0.likelihood.parameters"].values[0] = -1;
  ExpectRefused("likelihood.parameters");
  content_ = good;
  content_.tensors["members.0.scalers.inputs.scale"].values[0] = 0;
  ExpectRefused("scaler of the inputs");
}

TEST_F(HostileFile, AbsurdSizesAreRefusedBeforeMemoryIsTaken) {
  const Json good = description_;
  for (const char* field : {"inputs", "outputs"}) {
    for (const Json& size : {Json(4'000'000'000'000'000'000), Json(0), Json(-1), Json(1e300)}) {
      description_["experts"][0]["layers"][0][field] = size;
      ChangedError();
      description_ = good;
    }
  }
  description_["experts"][0]["layers"][0]["functions"][0]["inducing"] = 4'000'000'000'000'000'000;
  ExpectRefused("'experts.0.layers.0.gps.0.Z' has the wrong shape");
}

TEST_F(HostileFile, DescriptionThatDoesNotFit) {
  const Json good = description_;
  const auto refused = [&](const std::string& because) {
    ExpectRefused(because);
    description_ = good;
  };
  description_["experts"][0]["layers"][0]["skip"] = true;
  refused("skip links");
  description_["experts"][0]["layers"][0]["shared"] = true;
  refused("does not belong");
  description_["experts"][0]["layers"] = Json::array();
  refused("no layers");
  description_["experts"][0]["layers"][1]["functions"][0]["kernel"] = "magic";
  refused("magic");
  description_["experts"][0]["layers"][1]["functions"][0]["posterior"] = "magic";
  refused("magic");
  description_["experts"][0]["likelihood"] = 3;
  refused("likelihood must be a text");
  description_["columns"]["inputs"][1]["name"] = "a";
  refused("named twice");
  description_["columns"]["targets"] = {"y"};
  refused("wrong shape");
  description_["experts"][0]["jitter"] = "NaN";
  refused("jitter");
  description_["recipe"]["optimizer"]["magic"] = 1;
  refused("'optimizer.magic' is not known");
  description_["recipe"]["alpha"] = "a\nlot";
  refused("recipe field alpha must be a number");
  description_["training"].erase("steps");
  refused("has no 'steps'");
  description_["training"]["reason"] = "boredom";
  refused("boredom");
}

TEST_F(HostileFile, NotAModelAtAll) {
  folder_.Write("model.fathom", "x,y\n1,2\n");
  LoadError();
  std::string noise;
  RandomStream stream(8);
  for (int i = 0; i < 5000; ++i) noise.push_back(static_cast<char>(stream.Below(256)));
  folder_.Write("model.fathom", noise);
  LoadError();
}

}  // namespace
}  // namespace fathom
