// Model files that were damaged or made to deceive.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fathom/fitted/predictor.h"
#include "fathom/io/safetensors.h"
#include "tests/support/changed_model.h"
#include "tests/support/random_ensemble.h"
#include "tests/support/small_model.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

// A model file, changed by the test.
class HostileFile : public testing::Test {
 protected:
  HostileFile() {
    SaveModel(SmallModel(), path_);
    content_ = ReadSafeTensors(path_);
    description_ = Json::parse(content_.metadata.at("model"));
  }

  std::string LoadError() const {
    std::string error = ErrorOf([&] { LoadModel(path_); });
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

// The checksum is right, as whoever made the file would see to.
TEST_F(HostileFile, FlippedBytesOfTheDescriptionNeverCrash) {
  const std::string text = content_.metadata.at("model");
  int refused = 0;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    content_.metadata["model"] = text;
    content_.metadata["model"][i] = static_cast<char>(text[i] ^ 0x15);
    try {
      WriteSafeTensors(path_, content_);
      // A digit of the summary may change unnoticed; what loads must still predict.
      const Model model = LoadModel(path_);
      EXPECT_EQ(ModelPredictor(model, 1).Predict(SmallDataset().inputs).outputs(), 2);
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(HostileFile, FutureVersion) {
  content_.metadata["format_version"] = "9";
  ExpectRefused("written by a newer fathom (format 9); this one reads format 8: upgrade");
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

// Trees whose ways lead up, or nowhere, would never end.
TEST_F(HostileFile, TreesThatLeadNowhere) {
  SaveModel(RandomEnsemble({.trees = true}), path_);
  content_ = ReadSafeTensors(path_);
  description_ = Json::parse(content_.metadata.at("model"));
  const std::string expert = "experts." + std::to_string(description_["experts"].size() - 1);
  const SafeTensors good = content_;
  // The first node divides: its column, the node to the right, and its cut.
  for (const auto& [place, number] :
       {std::pair(0, 99.0), {0, 0.5}, {1, 0.0}, {1, 1e9}, {1, -1.0}}) {
    content_.tensors[expert + ".targets.0.nodes"].values[static_cast<std::size_t>(place)] = number;
    ExpectRefused("of a tree");
    content_ = good;
  }
  content_.tensors[expert + ".targets.0.nodes"].values[2] = std::numeric_limits<double>::infinity();
  ExpectRefused("a node of a tree is out of range");
  content_ = good;
  content_.tensors[expert + ".targets.0.roots"].values[1] = 0;
  ExpectRefused("the roots of boosted trees are mixed up");
  content_ = good;
  content_.tensors[expert + ".targets.0.nodes"].values[3] = 3;
  ExpectRefused("missing cells go nowhere in a tree");
  content_ = good;
  content_.tensors[expert + ".noise"].values[0] = 0;
  ExpectRefused("the noise of boosted trees is out of range");
}

// A row whose cells are uncertain goes both ways. Where ways meet, that takes for ever; where they
// are long, the stack ends first.
TEST_F(HostileFile, TreesThatAreNoTrees) {
  SaveModel(RandomEnsemble({.trees = true}), path_);
  content_ = ReadSafeTensors(path_);
  description_ = Json::parse(content_.metadata.at("model"));
  const std::size_t last = description_["experts"].size() - 1;
  const std::string prefix = "experts." + std::to_string(last) + ".targets.0.";
  const auto make_tree = [&](const std::vector<double>& rights) {
    std::vector<double> nodes;
    for (const double right : rights)
      nodes.insert(nodes.end(), {right > 0 ? 0.0 : -1.0, right, 0.0, 0.0});
    content_.tensors[prefix + "nodes"] = {{rights.size(), 4}, nodes};
    content_.tensors[prefix + "roots"] = {{1}, {0}};
    description_["experts"][last]["nodes"][0] = rights.size();
    description_["experts"][last]["trees"][0] = 1;
  };
  make_tree({2, 3, -1, -1});
  ExpectRefused("the nodes of a tree are mixed up");
  make_tree({1, 1});
  ExpectRefused("a tree has no end");
  const auto chain = [](int depth) {
    std::vector<double> rights;
    for (int n = 0; n < depth; ++n) rights.push_back(2 * depth - n);
    rights.insert(rights.end(), static_cast<std::size_t>(depth) + 1, -1);
    return rights;
  };
  make_tree(chain(1000));
  ExpectRefused("a node of a tree is out of range");
  make_tree(chain(60));
  content_.metadata["model"] = description_.dump();
  WriteSafeTensors(path_, content_);
  EXPECT_NO_THROW(LoadModel(path_));
}

TEST_F(HostileFile, HumpsThatCannotBe) {
  SaveModel(RandomEnsemble({}), path_);
  content_ = ReadSafeTensors(path_);
  description_ = Json::parse(content_.metadata.at("model"));
  Json& shape = description_["calibration"]["shape"] = Json::object();
  shape["gap"] = -1;
  ExpectRefused("the humps of its target are out of range");
  shape["gap"] = 1;
  ExpectRefused("share_logit");
  // Nothing says how probable the upper hump is.
  content_.tensors["calibration.share_logit"] = {{2}, {0, 1}};
  ExpectRefused("the share of the frequent value, or of a hump, does not fit the model");
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
