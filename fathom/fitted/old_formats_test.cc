// Files of earlier versions load to the predictions that those versions made: see tests/models.
#include "fathom/fitted/old_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fathom/data/dataset.h"
#include "fathom/data/read_table.h"
#include "fathom/fit/resume.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/predictor.h"
#include "fathom/io/safetensors.h"
#include "tests/support/places.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

std::string Saved(const std::string& name) { return SourceFile("tests/models/" + name); }

// Compares mean and standard deviation with what is on file. Another processor may round the sums
// of a prediction otherwise; on the one that wrote the file the bits are the same.
void ExpectPredictions(const Model& model, const std::string& csv) {
  const Table rows = ReadTable(Saved("table.csv"), ReadingFor(model.schema(), {}));
  const Table expected = ReadTable(Saved(csv));
  const Dataset dataset = InputRows(rows, model.schema()).Read();
  const ModelPredictor predictor(model, 1);
  if (!model.schema().classes.empty()) {
    const Matrix p = predictor.ClassProbabilities(dataset.inputs());
    EXPECT_LT((p - expected.values.middleCols(1, p.cols())).cwiseAbs().maxCoeff(), 1e-12);
    return;
  }
  const Prediction y = predictor.Predict(dataset.inputs());
  EXPECT_LT((y.Mean() - expected.values.col(0)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((y.Variance().cwiseSqrt() - expected.values.col(1)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(OldFormats, PredictAsTheyDid) {
  for (const std::string name : {"format4_network", "format4_stack", "format4_classes"}) {
    const Model model = LoadModel(Saved(name + ".fathom"));
    ExpectPredictions(model, name + ".csv");
    // And once more from a file of today.
    const TestFolder folder;
    SaveModel(model, folder.Path("now"));
    ExpectPredictions(LoadModel(folder.Path("now")), name + ".csv");
  }
}

TEST(OldFormats, MembersOfAStackAreItsNetworksAndTheOneUnderMoreNoise) {
  const Model model = LoadModel(Saved("format4_stack.fathom"));
  ASSERT_EQ(model.members().size(), 6U);
  int wide = 0;
  for (const Member& member : model.members()) wide += member.noise_scale == 25 ? 1 : 0;
  EXPECT_EQ(wide, 1);
}

// Ensembles are made in another way now; what was reached still predicts.
TEST(OldFormats, ACheckpointOfAnEnsembleIsAModelThatCannotGoOn) {
  const Checkpoint checkpoint = LoadCheckpoint(Saved("format4_stack.checkpoint"));
  EXPECT_EQ(checkpoint.done.size(), 3U);
  EXPECT_EQ(checkpoint.state.step, 198);
  const Dataset dataset =
      MakeDataset(ReadTable(Saved("table.csv")), Roles{.targets = {"y"}, .ignore = {"kind"}});
  const std::string error = ErrorOf([&] { Resume(dataset, checkpoint); });
  EXPECT_NE(error.find("was begun by an older fathom"), std::string::npos) << error;
  const Model so_far = LoadModel(Saved("format4_stack.checkpoint"));
  EXPECT_TRUE(ModelPredictor(so_far, 1).Predict(dataset.inputs()).Mean().allFinite());
}

// A file of format 4, changed by the test.
class OldFile : public testing::Test {
 protected:
  OldFile()
      : content_(ReadSafeTensors(Saved("format4_network.fathom"))),
        description_(Json::parse(content_.metadata.at("model"))) {}

  Model Load() {
    content_.metadata["model"] = description_.dump();
    WriteSafeTensors(path_, content_);
    return LoadModel(path_);
  }
  void ExpectRefused(const std::string& because) {
    const std::string error = ErrorOf([&] { Load(); });
    EXPECT_NE(error.find(because), std::string::npos) << error;
  }

  TestFolder folder_;
  std::string path_ = folder_.Path("model.fathom");
  SafeTensors content_;
  Json description_;
};

TEST_F(OldFile, ThirdFormatHadNoWideShare) {
  content_.metadata["format_version"] = "3";
  description_.erase("wide_share");
  EXPECT_EQ(Load().members().size(), 1U);
}

TEST_F(OldFile, SecondFormatHadNoClasses) {
  const Schema now = Load().schema();
  content_.metadata["format_version"] = "2";
  description_["columns"].erase("classes");
  EXPECT_EQ(Load().schema(), now);
}

TEST_F(OldFile, FirstFormatHadNumbersOnly) {
  content_.metadata["format_version"] = "1";
  description_.erase("columns");
  description_.erase("data");
  const Schema schema = Load().schema();
  EXPECT_EQ(schema.inputs.size(), 5U);
  EXPECT_EQ(schema.targets, std::vector<std::string>{"y"});
}

TEST_F(OldFile, StacksWereAFlagAndBeforeThatUnknown) {
  description_["recipe"]["stack"] = true;
  EXPECT_EQ(Load().recipe().stack, Stacking::kAlways);
  description_["recipe"].erase("stack");
  EXPECT_EQ(Load().recipe().stack, Stacking::kNever);
}

TEST_F(OldFile, SharesThatCannotBe) {
  description_["share"] = 1.5;
  ExpectRefused("the share of a network is 1.5, not between 0 and 1");
  description_["share"] = 0.5;
  description_["wide_share"] = -0.5;
  ExpectRefused("the share of a network is -0.5, not between 0 and 1");
  description_["share"] = description_["wide_share"] = 0;
  ExpectRefused("a network has no share in the stack");
}

TEST_F(OldFile, ColumnsThatAreNotTheInputs) {
  description_["columns"]["targets"] = {"z"};
  ExpectRefused("its columns are not those of its inputs and targets");
}

}  // namespace
}  // namespace fathom
