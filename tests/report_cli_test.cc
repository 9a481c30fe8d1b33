// The page of 'fathom report', against what the other commands say of the same rows.
#include <nlohmann/json.hpp>

#include "fathom/base/option_text.h"
#include "tests/support/program.h"
#include "tests/support/xml_check.h"

namespace fathom {
namespace {

class ReportTest : public ProgramTest {
 protected:
  std::string Page(const std::string& table, const Arguments& more = {}) const {
    std::string page = Good(Join({"report", model_, table, "-o", "-"}, more));
    const std::string start = "<!DOCTYPE html>\n";
    EXPECT_TRUE(page.starts_with(start));
    EXPECT_EQ(WhatIsWrongWithXml("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
                                 page.substr(start.size())),
              "");
    return page;
  }
  // Every score stands in a row of its own, as evaluate has it.
  void ExpectScores(const std::string& page, const nlohmann::json& scores,
                    const std::vector<std::string>& keys) const {
    for (const std::string& key : keys) {
      const std::string cells = "<th class=\"k\">" + key + "</th>\n<td class=\"r\">" +
                                Short(scores[key].get<double>()) + "</td>";
      EXPECT_NE(page.find(cells), std::string::npos) << cells;
    }
  }
};

const std::vector<std::string> kNumberKeys = {
    "rmse", "mae", "mean_log_likelihood", "crps", "coverage_95", "calibration_error", "rows"};

TEST_F(ReportTest, HasTheNumbersOfEvaluatePredictAndInspect) {
  for (const Arguments& more : {Arguments{}, Arguments{"--stack", "never"}}) {
    Good(FitArguments(train_, model_, more));
    const std::string page = Page(test_);
    ExpectScores(page, nlohmann::json::parse(Good({"evaluate", model_, test_, "--json"})),
                 kNumberKeys);
    // The row with the smallest density comes first.
    const auto predicted = nlohmann::json::parse(Good({"predict", model_, test_, "--json"}));
    nlohmann::json least = predicted["predictions"][0];
    for (const nlohmann::json& row : predicted["predictions"]) {
      if (row["log_density"] < least["log_density"]) least = row;
    }
    const std::size_t surprises = page.find("The most surprising rows");
    const std::string cells =
        "<td class=\"r\">" + std::to_string(least["row"].get<int>()) + "</td>\n<td class=\"r\">";
    EXPECT_EQ(page.find("<td", surprises), page.find(cells, surprises));
    EXPECT_NE(page.find("<td class=\"r\">" + Short(least["q025"].get<double>()) + "</td>"),
              std::string::npos);
    EXPECT_NE(page.find("Which inputs matter"), std::string::npos);
    EXPECT_EQ(Page(test_, {"--threads", "1", "--chunk", "7"}), page);
    EXPECT_EQ(Page(test_, {"--threads", "3"}), page);
  }
}

TEST_F(ReportTest, WritesAWholeFileOrLeavesTheOldOne) {
  Good(FitArguments(train_, model_));
  const std::string old = folder_.Write("r.html", "old");
  Bad({"report", model_, folder_.Write("inputs.csv", "a,b,c,d\n1,2,3,4\n"), "-o", old}, "'y'");
  Bad({"report", model_, folder_.Write("none.csv", "a,b,c,d,y\n1,2,7,2,NA\n"), "-o", old},
      "whose targets are known");
  Bad({"report", model_, test_, "-o", test_}, "is read too");
  Bad({"report", model_, test_}, "--output");
  const int err = ::open(File("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  EXPECT_EQ(
      ExitCode(StartProgram({"report", model_, test_, "-o", old}, {.err = err, .file_size = 5000})),
      2);
  ::close(err);
  EXPECT_EQ(TestFolder::Read(old), "old");
  EXPECT_EQ(Good({"report", model_, test_, "-o", old}), "");
  EXPECT_EQ(TestFolder::Read(old), Page(test_));
}

TEST_F(ReportTest, ShowsClassesWithHostileNames) {
  const auto table = [](std::uint64_t seed) {
    RandomStream stream(seed);
    std::ostringstream out;
    out << "<img src=x onerror=alert(1)>,b,y\n";
    for (int n = 0; n < 120; ++n) {
      const double a = stream.Normal(), b = stream.Normal();
      out << a << "," << b << "," << (a + 0.5 * b + 0.5 * stream.Normal() > 0 ? "<b>&" : "no")
          << "\n";
    }
    return out.str();
  };
  const std::string train = folder_.Write("c.csv", table(1));
  const std::string test = folder_.Write("t.csv", table(2));
  Good(FitArguments(train, model_));
  const std::string page = Page(test);
  ExpectScores(page, nlohmann::json::parse(Good({"evaluate", model_, test, "--json"})),
               {"accuracy", "mean_log_likelihood", "brier", "calibration_error", "rows"});
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_NE(page.find("true \\ predicted"), std::string::npos);
  EXPECT_NE(page.find("<th class=\"h\">&lt;b&gt;&amp;</th>"), std::string::npos);
  const std::string unseen =
      folder_.Write("u.csv", "<img src=x onerror=alert(1)>,b,y\n1,2,maybe\n");
  Bad({"report", model_, unseen, "-o", "-"}, "'maybe'");
}

TEST_F(ReportTest, TakesABaselineAndMissingCells) {
  Good({"baseline", "pbp", train_, "--target", "y", "-o", model_, "--epochs", "3"});
  const std::string gaps =
      folder_.Write("gaps.csv", "a,b,c,d,y\n1,100,,99,2\n0,,1,101,NA\n1,99,1,98,-1\n");
  const std::string page = Page(gaps);
  EXPECT_NE(page.find("3 rows, 2 with a known target"), std::string::npos);
  ExpectScores(page, nlohmann::json::parse(Good({"evaluate", model_, gaps, "--json"})),
               kNumberKeys);
}

}  // namespace
}  // namespace fathom
