#include "study/study.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "study/published.h"
#include "study/units.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

// Never fitted; its work is the rows times its one option.
class Sloth : public Method {
 public:
  explicit Sloth(double factor) : factor_(factor) {}
  std::unique_ptr<Predictor> Fit(const Dataset&) const override { return nullptr; }
  nlohmann::json Settings() const override { return {{"factor", factor_}, {"seed", 1}}; }
  double Work(Index rows, Index) const override { return factor_ * static_cast<double>(rows); }

 private:
  double factor_;
};

std::unique_ptr<Method> MakeSloth(const std::vector<MethodOption>& options) {
  double factor = 1;
  for (const MethodOption& option : options) {
    if (option.name != "factor") throw Error("there is no option '" + option.name + "'");
    factor = std::stod(option.value);
  }
  return std::make_unique<Sloth>(factor);
}

const std::vector<MethodKind> kKinds = {{"sloth", MakeSloth}};

class Studies : public testing::Test {
 protected:
  Study Load(const std::string& text) {
    return LoadStudy(folder_.Write("mine.toml", text), kKinds);
  }
  std::string Fault(const std::string& text) {
    return ErrorOf([&] { Load(text); });
  }

  TestFolder folder_;
};

constexpr const char* kStudy =
    "datasets = [\"mountain_car\"]\n"
    "splits = \"0-2\"\n"
    "budget = \"1m\"\n"
    "[slow]\n"
    "factor = 5\n"
    "[fast]\n"
    "method = \"sloth\"\n"
    "splits = [1, 7]\n";

TEST_F(Studies, AFileNamesDatasetsSplitsAndMethods) {
  const Study study = Load(kStudy);
  EXPECT_EQ(study.name, "mine");
  EXPECT_EQ(study.budget, 60);
  ASSERT_EQ(study.methods.size(), 2U);
  EXPECT_EQ(study.methods[0].name, "slow");
  EXPECT_EQ(study.methods[0].splits, (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(study.methods[0].method->Settings()["factor"], 5);
  EXPECT_EQ(study.methods[1].splits, (std::vector<Index>{1, 7}));
}

TEST_F(Studies, SectionsShareANameOnDatasetsOfTheirOwn) {
  const Study study = Load(
      "datasets = [\"a\", \"b\"]\n[m]\ndatasets = [\"a\"]\nmethod = \"sloth\"\n"
      "[m_b]\nas = \"m\"\ndatasets = [\"b\"]\nmethod = \"sloth\"\nfactor = 7\n");
  ASSERT_EQ(study.methods.size(), 2U);
  EXPECT_EQ(study.methods[1].name, "m");
  EXPECT_EQ(study.methods[1].method->Settings()["factor"], 7);
  Study narrowed = study;
  EXPECT_TRUE(ErrorOf([&] { Narrow({}, {"z"}, {}, &narrowed); }).ends_with("it has 'm'"))
      << "a name once";
  EXPECT_NE(Fault("datasets = [\"a\"]\n[m]\nmethod = \"sloth\"\n[n]\nas = \"m\"\n"
                  "method = \"sloth\"\n")
                .find("line 4: two sections describe 'm' on dataset 'a'"),
            std::string::npos);
}

TEST_F(Studies, FaultsNameTheLine) {
  EXPECT_NE(Fault("datasets = [\"a\", \"a\"]\n[m]\n").find("line 1: dataset 'a' is named twice"),
            std::string::npos);
  EXPECT_NE(Fault("dataset = 3\n[m]\n").find("line 1: a study has no 'dataset'; did you mean"),
            std::string::npos);
  EXPECT_NE(Fault("datasets = [\"a\"]\n[m]\nmethod = \"slooth\"\n").find("did you mean 'sloth'?"),
            std::string::npos);
  EXPECT_NE(Fault("datasets = [\"a\"]\n[m]\nspeed = 3\n").find("there is no option 'speed'"),
            std::string::npos);
  EXPECT_NE(Fault("[m]\n").find("names no datasets"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { LoadStudy("uc", kKinds); }).find("did you mean 'uci'?"),
            std::string::npos);
}

TEST_F(Studies, UnitsComeSplitBySplitTheLongestFirst) {
  const Study study = Load(kStudy);
  const std::vector<Unit> units = ListUnits(study, "");
  ASSERT_EQ(units.size(), 5U);
  EXPECT_EQ(units[0].key(), (UnitKey{"mountain_car", 0, "slow"}));
  EXPECT_EQ(units[1].key(), (UnitKey{"mountain_car", 1, "slow"}));
  EXPECT_EQ(units[2].key(), (UnitKey{"mountain_car", 1, "fast"}));
  EXPECT_EQ(units[4].key(), (UnitKey{"mountain_car", 7, "fast"}));

  UnitRecord done{.dataset = "mountain_car", .split = 1, .method = "slow"};
  EXPECT_EQ(UnitsLeft(units, {done}).size(), 4U);
  const ChangedSettings changed(units);
  EXPECT_TRUE(changed.IsChanged(done)) << "without settings it cannot be the same";
  done.settings = {{"seed", 1}, {"factor", 5.0}};
  EXPECT_FALSE(changed.IsChanged(done)) << "the order of settings says nothing";
  done.settings["factor"] = 6.0;
  EXPECT_EQ(changed.Setting(done), "factor");
  done.method = "another";
  EXPECT_FALSE(changed.IsChanged(done));
}

TEST_F(Studies, AStudyCanBeNarrowed) {
  Study study = Load(kStudy);
  Narrow({}, {}, {2}, &study);
  ASSERT_EQ(study.methods.size(), 1U) << "fast has no split 2";
  EXPECT_EQ(study.methods[0].splits, std::vector<Index>{2});
  EXPECT_NE(ErrorOf([&] { Narrow({}, {"slw"}, {}, &study); }).find("did you mean 'slow'?"),
            std::string::npos);
}

TEST(SplitNumbers, AreRangesAndLists) {
  EXPECT_EQ(ParseSplitNumbers("s", "4,0-2,1"), (std::vector<Index>{0, 1, 2, 4}));
  for (const char* bad : {"", "x", "3-1", "-1", "1-", "0-99999"})
    EXPECT_EQ(ErrorOf([&] { ParseSplitNumbers("s", bad); }).find("s: "), 0U) << bad;
}

TEST(Published, ScoresHaveEitherName) {
  const std::vector<PublishedMethod> methods =
      ParsePublished("f",
                     "[VI]\nsource = \"a paper\"\nsplits = \"other\"\nerror = \"sd\"\n"
                     "datasets = [\"a\", \"b\"]\nmean_log_likelihood = [1, nan]\n"
                     "log_likelihood_error = [0.5, nan]\n");
  ASSERT_EQ(methods.size(), 1U);
  EXPECT_FALSE(methods[0].same_splits);
  EXPECT_TRUE(methods[0].deviations);
  EXPECT_EQ(methods[0].scores.at("log_likelihood").at("a").mean, 1);
  EXPECT_EQ(methods[0].scores.at("log_likelihood").at("a").error, 0.5);
  EXPECT_NE(ErrorOf([] {
              ParsePublished("f", "[VI]\ndatasets = [\"a\"]\nrmse = [1, 2]\n");
            }).find("line 3"),
            std::string::npos);
  EXPECT_FALSE(LoadPublished().empty());
}

TEST(Published, SomeValuesAreUnreachable) {
  const std::vector<PublishedMethod> methods =
      ParsePublished("f",
                     "[VI]\nstudy = \"paper\"\ndatasets = [\"a\", \"b\"]\nrmse = [1, 2]\n"
                     "rmse_unreachable = [\"b\"]\n");
  EXPECT_EQ(methods[0].study, "paper");
  EXPECT_TRUE(methods[0].scores.at("rmse").at("a").reachable);
  EXPECT_FALSE(methods[0].scores.at("rmse").at("b").reachable);
  EXPECT_NE(ErrorOf([] {
              ParsePublished("f", "[VI]\ndatasets = [\"a\"]\nrmse_unreachable = [\"a\"]\n");
            }).find("line 3"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom
