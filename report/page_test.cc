#include "report/page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fathom/evaluate/evaluation.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/fitted/predictor.h"
#include "report/html.h"
#include "report/words.h"
#include "tests/support/small_model.h"
#include "tests/support/xml_check.h"

namespace fathom::report {
namespace {

// The page as a strict reader of XML takes it.
std::string WhatIsWrongWithPage(const std::string& page) {
  constexpr std::string_view kStart = "<!DOCTYPE html>\n";
  if (!page.starts_with(kStart)) return "no doctype";
  return WhatIsWrongWithXml("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
                            page.substr(kStart.size()));
}

Findings Gathered(const ModelPredictor& predictor, const Dataset& rows, Index piece, int threads) {
  Gatherer gatherer(predictor.model());
  for (Index first = 0; first < rows.rows(); first += piece) {
    std::vector<Index> some;
    for (Index n = first; n < std::min(first + piece, rows.rows()); ++n) some.push_back(n);
    const Dataset part = Subset(rows, some);
    gatherer.Add(PredictTargets(predictor, part), part, ThreadPool(threads));
  }
  return std::move(gatherer).Finish();
}

// Two targets, one of which is missing in a row, and a row beyond the training.
Dataset Rows() {
  DatasetParts parts = SmallDataset();
  parts.targets(3, 0) = std::numeric_limits<double>::quiet_NaN();
  parts.inputs.mean(7, 0) = 1e4;
  return parts;
}

TEST(Gatherer, HasTheScoresOfEachTargetAndOfRowsBeyondTheTraining) {
  const ModelPredictor predictor(SmallModel(), 1);
  const Dataset rows = Rows();
  const Findings findings = Gathered(predictor, rows, 100, 1);
  const std::vector<Evaluation> expected =
      EvaluateEach(PredictTargets(predictor, rows), rows.targets());
  ASSERT_EQ(findings.numbers.size(), 2U);
  EXPECT_EQ(findings.table_rows, 30);
  EXPECT_EQ(findings.scored_rows, 30);
  EXPECT_EQ(findings.numbers[0].rows.size(), 29U);
  for (std::size_t t = 0; t < 2; ++t) {
    const auto& scores = std::get<Scores>(expected[1 + t]);
    EXPECT_EQ(findings.numbers[t].scores.rmse, scores.rmse);
    EXPECT_EQ(findings.numbers[t].scores.coverage_95, scores.coverage_95);
    EXPECT_EQ(findings.numbers[t].outside->rows, 1);
  }
  EXPECT_EQ(findings.together->mean_log_likelihood,
            std::get<Scores>(expected[0]).mean_log_likelihood);
  EXPECT_EQ(findings.outside, 1);
  EXPECT_EQ(findings.outside_columns, std::vector<std::string>{"a"});
  // The fourth row has only the second target.
  EXPECT_EQ(findings.numbers[0].rows[3].row, 5);
  EXPECT_EQ(findings.numbers[1].rows[3].row, 4);
}

TEST(Page, PiecesAndThreadsChangeNoByte) {
  const ModelPredictor predictor(SmallModel(), 1);
  const auto page = [&](Index piece, int threads) {
    return Page({"m", "t"}, SmallModel(), Gathered(predictor, Rows(), piece, threads));
  };
  const std::string whole = page(100, 1);
  EXPECT_EQ(WhatIsWrongWithPage(whole), "");
  EXPECT_EQ(page(7, 1), whole);
  EXPECT_EQ(page(7, 3), whole);
}

TEST(Page, TakesNoMarkupFromNames) {
  const std::string hostile = "</td><script>alert('1')</script>\"&\n\u202e";
  DatasetParts parts = SmallDataset();
  parts.schema = NumericSchema({hostile, "b", "c"}, {"y" + hostile, "z"});
  const ModelPredictor predictor(Fit(Dataset(parts), SmallRecipe()), 1);
  const std::string page = Page({hostile, hostile, {{"kind", 1, hostile}}}, predictor.model(),
                                Gathered(predictor, Dataset(parts), 100, 1));
  EXPECT_EQ(WhatIsWrongWithPage(page), "");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("\u202e"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert"), std::string::npos);
}

// Nothing that a browser would fetch: addresses stand only in the names of XML spaces.
TEST(Page, NeedsNothingFromOutside) {
  const ModelPredictor predictor(SmallModel(), 1);
  std::string page = Page({"m", "t"}, SmallModel(), Gathered(predictor, Rows(), 100, 1));
  const std::string space = "xmlns=\"http://www.w3.org/2000/svg\"";
  for (std::size_t at = page.find(space); at != std::string::npos; at = page.find(space))
    page.erase(at, space.size());
  for (const char* word : {"http", "src=", "href=", "url(", "@import"})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
}

NumberFindings Covering(double share, Index rows) {
  NumberFindings findings;
  findings.scores.coverage_95 = share;
  findings.scores.rows = rows;
  return findings;
}

TEST(TrustSentence, KnowsWhatChanceExplains) {
  const auto says = [](double share, Index rows, const char* words) {
    const std::string text = TrustSentence(Covering(share, rows));
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says(0.90, 20, "Chance alone");
  says(0.90, 2000, "too narrow.");
  says(0.96, 4000, "too wide, but not by much.");
  says(1.00, 2000, "too wide.");
}

TEST(ErrorSentence, SaysWhenAGuessIsAsGood) {
  NumberFindings findings;
  for (const double target : {1.0, 3.0}) findings.rows.emplace_back().target = target;
  findings.scores.rmse = 0.5;
  EXPECT_TRUE(ErrorSentence(findings).ends_with("would have 1.")) << ErrorSentence(findings);
  findings.scores.rmse = 1;
  EXPECT_TRUE(ErrorSentence(findings).ends_with("no better than that guess."));
}

TEST(MostSurprising, LeastExpectedFirstAndTiesInTheOrderOfTheTable) {
  std::vector<NumberRow> rows(4);
  for (std::size_t i = 0; i < 4; ++i) rows[i].row = static_cast<Index>(i) + 1;
  rows[2].log_density = -INFINITY;
  rows[3].log_density = 1;
  const std::vector<NumberRow> found = MostSurprising(rows, 3);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].row, 3);
  EXPECT_EQ(found[1].row, 1);
  EXPECT_EQ(found[2].row, 2);
}

TEST(EvenlyByMean, KeepsBothEndsAndAscends) {
  std::vector<NumberRow> rows(1000);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].mean = static_cast<double>(i * 7 % 1000);
  const std::vector<NumberRow> drawn = EvenlyByMean(rows, 300);
  ASSERT_EQ(drawn.size(), 300U);
  EXPECT_EQ(drawn.front().mean, 0);
  EXPECT_EQ(drawn.back().mean, 999);
  for (std::size_t i = 1; i < drawn.size(); ++i) {
    EXPECT_GT(drawn[i].mean, drawn[i - 1].mean);
    EXPECT_LE(drawn[i].mean - drawn[i - 1].mean, 4);
  }
  EXPECT_EQ(EvenlyByMean(rows, 2000).size(), 1000U);
}

}  // namespace
}  // namespace fathom::report
