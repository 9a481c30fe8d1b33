#include "study/rank_diagram.h"

#include <gtest/gtest.h>

#include "study/score_figure.h"
#include "tests/support/xml_check.h"

namespace fathom {
namespace {

TEST(RankDiagram, RunsAreMaximalAndNarrowerThanTheDifference) {
  using Runs = std::vector<std::pair<Index, Index>>;
  EXPECT_EQ(IndistinctRuns(Vector{{1, 2, 3, 4}}, 1.5), (Runs{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(IndistinctRuns(Vector{{1, 2, 3, 4}}, 1), Runs{});
  EXPECT_EQ(IndistinctRuns(Vector{{1, 2, 3, 4}}, 10), (Runs{{0, 3}}));
  EXPECT_EQ(IndistinctRuns(Vector{{1, 1.2, 3, 3.1, 3.2}}, 1), (Runs{{0, 1}, {2, 4}}));
}

ScoreTable RankedTable() {
  ScoreTable table{{.key = "rmse",
                    .meaning = "",
                    .better = Better::kSmaller,
                    .in_studies = true,
                    .study_key = "rmse",
                    .label = "RMSE <of test rows>",
                    .heading = "RMSE <of test rows>"},
                   {{"dgp", {}}, {"gp & co", {}}},
                   {}};
  table.columns.push_back({"others", PublishedMethod{.name = "others"}});
  for (const char* dataset : {"boston", "yacht", "wine", "energy"}) {
    ScoreRow row{dataset, false, {}};
    for (const double mean : {1.0, 3.0, 2.0}) {
      ScoreCell cell;
      cell.mean = mean;
      cell.error = 0.1;
      row.cells.push_back(cell);
    }
    table.rows.push_back(row);
  }
  table.rows[1].cells[2] = ScoreCell();  // not published
  return table;
}

TEST(RankDiagram, IsWellFormedAndNamesEveryMethodWithItsRank) {
  const ScoreTable table = RankedTable();
  const std::optional<TableRanks> ranks = RankTable(table);
  ASSERT_TRUE(ranks);
  const std::string svg = RankDiagram(table, *ranks);
  EXPECT_EQ(WhatIsWrongWithXml(svg), "");
  for (const char* text :
       {"dgp  1<", "gp &amp; co  3<", "others †  2<", "RMSE &lt;of test rows&gt;",
        "critical difference 1.91", "over 3 datasets"}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
}

TEST(ScoreFigure, HasAPanelPerDatasetAndAMarkPerValue) {
  const std::string svg = ScoreFigure(RankedTable());
  EXPECT_EQ(WhatIsWrongWithXml(svg), "");
  for (const char* text :
       {">boston<", ">yacht<", ">wine<", ">energy<", ">gp &amp; co<", ">others †<"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  std::size_t marks = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos;
       at = svg.find("<circle", at + 1))
    ++marks;
  EXPECT_EQ(marks, 11U);
}

}  // namespace
}  // namespace fathom
