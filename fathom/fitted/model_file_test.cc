#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fathom/fitted/predictor.h"
#include "fathom/io/file_bytes.h"
#include "fathom/io/safetensors.h"
#include "tests/support/changed_model.h"
#include "tests/support/random_ensemble.h"
#include "tests/support/small_model.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

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

TEST(ModelFile, TreesComeBack) {
  const TestFolder folder;
  const Model model = RandomEnsemble({.targets = 2, .trees = true});
  SaveModel(model, folder.Path("model.fathom"));
  const Moments rows = RowsWithGaps(3);
  ExpectSameBits(ModelPredictor(model, 1).Predict(rows),
                 ModelPredictor(LoadModel(folder.Path("model.fathom")), 2).Predict(rows));
}

// They did not say where missing cells go, and had three numbers per node.
TEST(ModelFile, TreesOfOlderFilesAreRead) {
  const TestFolder folder;
  const Model model = RandomEnsemble({.targets = 2, .trees = true});
  const std::string path = folder.Path("model.fathom");
  SaveModel(model, path);
  SafeTensors content = ReadSafeTensors(path);
  nlohmann::json description = nlohmann::json::parse(content.metadata.at("model"));
  for (nlohmann::json& expert : description["experts"]) expert.erase("missing");
  for (auto& [name, tensor] : content.tensors) {
    if (!name.ends_with(".nodes")) continue;
    std::vector<double> nodes;
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      if (i % 4 != 3) nodes.push_back(tensor.values[i]);
    }
    tensor = {{tensor.shape[0], 3}, nodes};
  }
  content.metadata["model"] = description.dump();
  WriteSafeTensors(path, content);
  const Moments known = Moments::Certain(RandomStream(3).NormalMatrix(5, 3));
  ExpectSameBits(ModelPredictor(model, 1).Predict(known),
                 ModelPredictor(LoadModel(path), 1).Predict(known));
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

}  // namespace
}  // namespace fathom
