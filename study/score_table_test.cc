#include "study/score_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "study/table_text.h"

namespace fathom {
namespace {

const ScoreKind& kLogLikelihood = *FindScore("log_likelihood");
const ScoreKind& kRmse = *FindScore("rmse");

UnitRecord Good(const std::string& dataset, Index split, const std::string& method, double score) {
  const UnitScores scores{
      {},
      {{"log_likelihood", score}, {"rmse", -score}, {"coverage_50", 0.5}, {"coverage_95", 0.9}}};
  return {.dataset = dataset,
          .split = split,
          .method = method,
          .outcome = {.scores = scores},
          .cpu_seconds = 2.0,
          .peak_memory = 3000000};
}

UnitRecord Failed(const std::string& dataset, Index split, const std::string& method) {
  return {.dataset = dataset, .split = split, .method = method, .outcome = {.failure = "a | b"}};
}

std::vector<UnitRecord> SomeRecords() {
  std::vector<UnitRecord> results = {Good("boston", 0, "dgp", -2.0), Good("boston", 1, "dgp", -3.0),
                                     Good("boston", 2, "dgp", -2.5), Good("boston", 0, "gp", -3.0),
                                     Good("boston", 1, "gp", -3.5),  Good("boston", 2, "gp", -3.1),
                                     Good("yacht", 0, "dgp", 0.5),   Good("yacht", 1, "dgp", 0.1),
                                     Good("yacht", 0, "gp", 1.0),    Failed("yacht", 1, "gp")};
  results[0].outcome.unseen = UnitScores{{}, {{"log_likelihood", -2.2}}};
  // The other name of the score serves as well.
  results[1].outcome.unseen = UnitScores{{}, {{"mean_log_likelihood", -3.2}}};
  return results;
}

std::vector<PublishedMethod> Published() {
  PublishedMethod same{.name = "others", .source = "a paper"};
  same.scores["log_likelihood"] = {
      {"boston", {-2.4, 0.04}}, {"yacht", {0.2, 0.1}}, {"year", {1, 1}}};
  PublishedMethod other{
      .name = "elsewhere", .source = "a book", .same_splits = false, .deviations = true};
  other.scores["log_likelihood"] = {{"boston", {-1.0, 0.3}}, {"yacht", {2, 0.1}}};
  PublishedMethod none{.name = "of no use", .source = "a page"};
  none.scores["log_likelihood"] = {{"year", {1, 1}}};
  return {same, other, none};
}

TEST(ScoreTable, MeansErrorsWorstAndMedianAreThoseOfTheSplits) {
  const ScoreTable table = MakeScoreTable(SomeRecords(), {}, kLogLikelihood);
  ASSERT_EQ(table.columns.size(), 2U);
  EXPECT_EQ(table.columns[0].name, "dgp");
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0].dataset, "boston");
  EXPECT_FALSE(table.rows[0].unseen);
  const ScoreCell& cell = table.rows[0].cells[0];
  EXPECT_DOUBLE_EQ(cell.mean, -2.5);
  EXPECT_DOUBLE_EQ(cell.error, std::sqrt(0.25 / 3));
  EXPECT_EQ(cell.worst, -3);
  EXPECT_EQ(cell.median, -2.5);
  EXPECT_EQ(cell.splits, 3);
  EXPECT_EQ(MakeScoreTable(SomeRecords(), {}, kRmse).rows[0].cells[0].worst, 3);
  // Unseen rows have a row of their own, with what there is.
  EXPECT_TRUE(table.rows[1].unseen);
  EXPECT_DOUBLE_EQ(table.rows[1].cells[0].mean, -2.7);
  EXPECT_FALSE(table.rows[1].cells[1].has_value());
  // One split, one failure: no error, and the failure counts.
  const ScoreCell& failed = table.rows[2].cells[1];
  EXPECT_EQ(failed.mean, 1);
  EXPECT_TRUE(std::isnan(failed.error));
  EXPECT_EQ(failed.splits, 1);
  EXPECT_EQ(failed.failures, 1);
  EXPECT_DOUBLE_EQ(table.rows[2].cells[0].median, 0.3);
}

TEST(ScoreTable, PublishedMethodsStandBesideOursIfTheyHaveAValue) {
  const ScoreTable table = MakeScoreTable(SomeRecords(), Published(), kLogLikelihood);
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(MarkedName(table.columns[0]), "dgp");
  EXPECT_EQ(MarkedName(table.columns[2]), "others †");
  EXPECT_EQ(MarkedName(table.columns[3]), "elsewhere ‡");
  EXPECT_EQ(table.rows[0].cells[2].mean, -2.4);
  EXPECT_FALSE(table.rows[1].cells[2].has_value()) << "nobody published unseen rows";
  EXPECT_EQ(MakeScoreTable(SomeRecords(), Published(), kRmse).columns.size(), 2U);
}

TEST(ScoreTable, MethodsOfAStudyStandOnlyBesideItsResultsAndAreNotRanked) {
  std::vector<PublishedMethod> published = Published();
  published[0].study = "paper";
  EXPECT_EQ(MakeScoreTable(Results(), published, kLogLikelihood).columns.size(), 3U);
  std::vector<UnitRecord> results = Results();
  results[0].study = "paper";
  const ScoreTable table = MakeScoreTable(results, published, kLogLikelihood);
  EXPECT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(RankTable(table)->columns, (std::vector<std::size_t>{0, 1}));
}

TEST(ScoreTable, SomeColumnsAreATableToo) {
  const ScoreTable table = MakeScoreTable(Results(), Published(), kLogLikelihood);
  const ScoreTable part = OnlyColumns(table, {"others", "dgp", "nobody"});
  ASSERT_EQ(part.columns.size(), 2U);
  EXPECT_EQ(part.columns[1].name, "others");
  ASSERT_EQ(part.rows.size(), table.rows.size());
  EXPECT_EQ(part.rows[0].cells[1].mean, table.rows[0].cells[2].mean);
}

TEST(ScoreTable, RanksCountFailuresAsLastAndLeaveOtherSplitsOut) {
  const std::optional<TableRanks> ranks =
      RankTable(MakeScoreTable(SomeRecords(), Published(), kLogLikelihood));
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->columns, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(ranks->datasets, (std::vector<std::string>{"boston", "yacht"}));
  // boston: others -2.4, dgp -2.5, gp -3.2; yacht: dgp 0.3, others 0.2, gp has failed.
  EXPECT_EQ(ranks->comparison.mean, (Vector{{1.5, 3, 1.5}}));
  const std::vector<UnitRecord> one = {Good("boston", 0, "dgp", 1), Good("boston", 0, "gp", 2)};
  EXPECT_FALSE(RankTable(MakeScoreTable(one, {}, kLogLikelihood)));
}

TEST(ScoreTable, AMethodOnFewDatasetsIsNotRankedAndDoesNotTakeTheOthersAway) {
  std::vector<UnitRecord> results;
  for (const char* dataset : {"a", "b", "c", "d", "e", "f"}) {
    results.push_back(Good(dataset, 0, "one", 1));
    results.push_back(Good(dataset, 0, "two", 2));
    if (*dataset <= 'b') results.push_back(Good(dataset, 0, "rare", 3));
    if (*dataset <= 'e') results.push_back(Good(dataset, 0, "most", 4));
  }
  const std::optional<TableRanks> ranks = RankTable(MakeScoreTable(results, {}, kLogLikelihood));
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->columns, (std::vector<std::size_t>{0, 1, 3}));  // most, one, (rare), two
  EXPECT_EQ(ranks->datasets, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(ranks->comparison.mean, (Vector{{1, 3, 2}}));
}

TEST(ScoreTable, AMethodOnSomeOfTheSplitsIsNotRankedNorTheBest) {
  std::vector<UnitRecord> results;
  for (const char* dataset : {"a", "b"}) {
    for (const Index split : {0, 1}) {
      results.push_back(Good(dataset, split, "one", 1));
      results.push_back(Good(dataset, split, "two", 2));
    }
    results.push_back(Good(dataset, 0, "begun", 3));
  }
  const ScoreTable table = MakeScoreTable(results, {}, kLogLikelihood);
  const std::optional<TableRanks> ranks = RankTable(table);
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->columns, (std::vector<std::size_t>{1, 2}));  // (begun), one, two
  EXPECT_NE(MarkdownTable(table).find("| a | 2 | 3 (1) | 1.00 ± 0.00 | **2.00 ± 0.00** |"),
            std::string::npos)
      << MarkdownTable(table);
}

TEST(TableText, DigitsFollowTheError) {
  EXPECT_EQ(EstimateText(-2.40321, 0.0312), "-2.403 ± 0.031");
  EXPECT_EQ(EstimateText(2.62, 0.17), "2.62 ± 0.17");
  EXPECT_EQ(EstimateText(0.000231, 0.0000123), "0.000231 ± 0.000012");
  EXPECT_EQ(EstimateText(123.4, 12), "123 ± 12");
  EXPECT_EQ(EstimateText(4.45, 0), "4.45 ± 0.00");
  EXPECT_EQ(EstimateText(0.0642, NAN), "0.0642");
  EXPECT_EQ(PublishedText(-2.4, 0.04), "-2.40 ± 0.04");
  EXPECT_EQ(PublishedText(0.064, NAN), "0.064");
  EXPECT_EQ(PublishedText(4.45, 0), "4.45 ± 0.00");
}

TEST(TableText, MarkdownShowsBestFailuresMarksAndRanks) {
  const std::string text =
      MarkdownTable(MakeScoreTable(SomeRecords(), Published(), kLogLikelihood));
  for (const char* line :
       {"| dataset | splits | dgp | gp | others † | elsewhere ‡ |\n",
        "| boston | 3 | -2.50 ± 0.29 | -3.20 ± 0.15 | -2.40 ± 0.04 | **-1.00 ± 0.30** |\n",
        "| boston, unseen rows | 2 | **-2.70 ± 0.50** |  |  |  |\n",
        "| yacht | 2 | 0.30 ± 0.20 | 1, 1 failed | 0.20 ± 0.10 | **2.00 ± 0.10** |\n",
        "| average rank |  | 1.50 ± 0.50 | 3.00 ± 0.00 | 1.50 ± 0.50 |  |\n",
        "Ranks over boston and yacht.", "- others †: a paper\n",
        "- elsewhere ‡: a book (± standard deviation over splits)\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nis not in\n" << text;
  }
  EXPECT_EQ(text.find("of no use"), std::string::npos);
}

TEST(TableText, CsvHasALinePerValue) {
  const std::string text = CsvTable(MakeScoreTable(SomeRecords(), Published(), kLogLikelihood));
  for (const char* line :
       {"\nboston,all,gp,,-3.2,", "\nboston,unseen,dgp,,-2.7,", "\nyacht,all,gp,,1,,,1,1,1,1\n",
        "\nboston,all,others,same splits,-2.4,0.04,se,,,,\n",
        "\nboston,all,elsewhere,other splits,-1,0.3,sd,,,,\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nis not in\n" << text;
  }
}

TEST(TableText, DetailsAndFailures) {
  std::vector<UnitRecord> results = SomeRecords();
  results.push_back(Good("boston", 3, "dgp", -9));
  const std::vector<UnitSummary> units = SummarizeUnits(results);
  const std::string details = MarkdownDetails(units);
  for (const char* line : {"| boston | dgp | 4 | **-9.000** | -2.750 | 50.0 | 90.0 | 2 | 3 |\n",
                           "| boston | gp | 3 | -3.500 | -3.100 | 50.0 | 90.0 | 2 | 3 |\n"}) {
    EXPECT_NE(details.find(line), std::string::npos) << line << "\nis not in\n" << details;
  }
  const std::string methods = MarkdownMethods(units);
  EXPECT_NE(methods.find("| dgp | 2 | 50.0 | 90.0 | 1 | 0.00 |\n"), std::string::npos) << methods;
  EXPECT_NE(CsvDetails(units).find("\nboston,dgp,4,-9,-2.75,1,0.5,0.9,2,3000000\n"),
            std::string::npos)
      << CsvDetails(units);
  EXPECT_NE(MarkdownFailures(results).find("| yacht | 1 | gp | a \\| b |\n"), std::string::npos);
  EXPECT_EQ(MarkdownFailures({Good("boston", 3, "dgp", -9)}), "");
}

}  // namespace
}  // namespace fathom
