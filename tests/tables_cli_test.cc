// 'fathom tables', run as a user would.
#include <filesystem>

#include "fathom/data/read_table.h"
#include "study/results_file.h"
#include "tests/support/program.h"
#include "tests/support/xml_check.h"

namespace fathom {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson Line(const std::string& dataset, unsigned split, const std::string& method,
                 double score) {
  return {{"dataset", dataset},
          {"split", split},
          {"method", method},
          {"scores", {{"log_likelihood", score}, {"rmse", 3.0}, {"coverage_95", 0.95}}},
          {"cpu_seconds", 1},
          {"peak_memory", 2e6}};
}

UnitRecord Record(const OrderedJson& line) { return *ReadRecord(line.dump()); }

class Tables : public ProgramTest {
 protected:
  void SetUp() override {
    ResultsFile results(File("uci"));
    for (const unsigned split : {0U, 1U}) {
      results.Append(Record(Line("boston", split, "dgp", -2.0 - 0.2 * split)));
      results.Append(Record(Line("yacht", split, "dgp", 1.0 + 0.2 * split)));
      results.Append(Record(Line("boston", split, "gp", -3.0)));
      results.Append(Record(Line("yacht", split, "gp", -1.0)));
    }
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(File(name)); }
};

TEST_F(Tables, TablesFiguresAndPublishedResultsAreWritten) {
  const std::string text = Good({"tables", File("uci")});
  EXPECT_EQ(TestFolder::Read(File("uci/tables.md")), text);
  EXPECT_NE(text.find("## Mean test log likelihood"), std::string::npos) << text;
  EXPECT_NE(text.find("| boston | 2 | **-2.10 ± 0.10** | -3.00 ± 0.00 | -2.40 ± 0.04 |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("MC dropout †"), std::string::npos) << text;
  EXPECT_NE(text.find("average rank"), std::string::npos) << text;
  const Table csv = ReadTable(File("uci/log_likelihood.csv"));
  EXPECT_EQ(csv.columns.front(), "dataset");
  EXPECT_GT(csv.values.rows(), 10);
  for (const char* name : {"log_likelihood", "log_likelihood_ranks", "rmse", "rmse_ranks"}) {
    const std::string svg = TestFolder::Read(File("uci/" + std::string(name) + ".svg"));
    EXPECT_EQ(WhatIsWrongWithXml(svg), "") << name;
  }
  EXPECT_FALSE(Exists("uci/accuracy.csv"));
}

TEST_F(Tables, OnlyTheMethodsThatAreAskedFor) {
  const std::string text = Good({"tables", File("uci"), "--methods", "gp", "--only-ours"});
  EXPECT_EQ(text.find("dgp"), std::string::npos) << text;
  EXPECT_NE(text.find("| boston | 2 | **-3.00"), std::string::npos) << text;
  Bad({"tables", File("uci"), "--methods", "dpg"}, "the methods are 'dgp', 'gp'");
}

TEST_F(Tables, ResultsOfSeveralRecipesUnderOneNameAreTold) {
  EXPECT_EQ(Good({"tables", File("uci")}).find("Mixed"), std::string::npos);
  {
    ResultsFile results(File("uci"));
    OrderedJson line = Line("boston", 2, "gp", -3);
    line["settings"] = {{"optimizer", {{"steps", 7}}}};
    results.Append(Record(line));
  }
  const std::string text = Good({"tables", File("uci")});
  EXPECT_NE(text.find("- gp: not all of its results have the same 'optimizer'"), std::string::npos)
      << text;
}

TEST_F(Tables, JsonHoldsWhatTheTablesShow) {
  {
    ResultsFile results(File("uci"));
    results.Append(Record(
        {{"dataset", "boston"}, {"split", 2U}, {"method", "gp"}, {"failure", "out of budget"}}));
  }
  const OrderedJson json = OrderedJson::parse(Good({"tables", File("uci"), "--json"}));
  for (const OrderedJson& file : json["files"])
    EXPECT_TRUE(std::filesystem::exists(file.get<std::string>())) << file;
  EXPECT_EQ(json["files"].back(), File("uci/tables.md"));
  ASSERT_EQ(json["scores"].size(), 2U);
  const OrderedJson& table = json["scores"][0];
  EXPECT_EQ(table["score"], "log_likelihood");
  EXPECT_EQ(table["methods"][0], (OrderedJson{{"name", "dgp"}, {"published", false}}));
  EXPECT_TRUE(table["methods"].back()["source"].is_string());
  const OrderedJson& cell = table["cells"][0];
  EXPECT_EQ(cell["dataset"], "boston");
  EXPECT_EQ(cell["method"], "dgp");
  EXPECT_NEAR(cell["mean"], -2.1, 1e-12);
  EXPECT_NEAR(cell["error"], 0.1, 1e-12);
  EXPECT_EQ(cell["worst"], -2.2);
  EXPECT_EQ(cell["splits"], 2);
  EXPECT_EQ(table["cells"][1]["failures"], 1);
  EXPECT_EQ(table["ranks"]["datasets"], (OrderedJson{"boston", "yacht"}));
  EXPECT_EQ(json["details"].size(), 4U);
  EXPECT_EQ(json["details"][0]["peak_memory"], 2e6);
  EXPECT_TRUE(json["details"][0]["coverage_50"].is_null());
  EXPECT_EQ(
      json["failures"],
      (OrderedJson{
          {{"dataset", "boston"}, {"split", 2}, {"method", "gp"}, {"failure", "out of budget"}}}));
  // One dataset is too few to rank.
  ResultsFile(File("small")).Append(Record(Line("boston", 0, "dgp", -2.5)));
  const OrderedJson small =
      OrderedJson::parse(Good({"tables", File("small"), "--only-ours", "--json"}));
  EXPECT_TRUE(small["scores"][0]["ranks"].is_null());
  EXPECT_TRUE(small["scores"][0]["cells"][0]["error"].is_null());
}

TEST_F(Tables, SeveralFoldersAndAPlaceOfTheirOwn) {
  {
    ResultsFile grid(File("grid"));
    grid.Append(Record(Line("boston", 0, "dgp_1", -2.5)));
    grid.Append(Record(Line("yacht", 0, "dgp_1", 0.5)));
  }
  const std::string text =
      Good({"tables", File("uci"), File("grid"), "--out", File("new/place"), "--only-ours"});
  EXPECT_NE(text.find("| dataset | splits | dgp | dgp_1 | gp |"), std::string::npos) << text;
  EXPECT_NE(text.find("-2.5 (1)"), std::string::npos) << "fewer splits are told: " << text;
  EXPECT_EQ(text.find("MC dropout"), std::string::npos) << text;
  EXPECT_TRUE(Exists("new/place/tables.md"));
  EXPECT_FALSE(Exists("uci/tables.md"));
  Bad({"tables", File("uci"), File("uci")}, "another folder has too");
  Bad({"tables", File("empty")}, "fathom bench");
}

}  // namespace
}  // namespace fathom
