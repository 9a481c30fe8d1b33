#include "fathom/evaluate/score_kinds.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace fathom {
namespace {

// Writes 1, 2, ... into the fields of the list and reads them back by name.
template <typename AnyScores>
void ExpectEveryFieldOnce() {
  AnyScores scores;
  double next = 0;
  std::set<std::string> keys, study_keys;
  for (const ScoreField<AnyScores>& field : ScoreFields<AnyScores>()) {
    EXPECT_EQ(scores.*field.value, 0) << field.key << " shares its field with another";
    scores.*field.value = ++next;
    keys.insert(field.key);
    study_keys.insert(field.study_key);
  }
  const std::vector<NamedScore> named = NamedScores(scores);
  EXPECT_EQ(keys.size(), named.size());
  EXPECT_EQ(study_keys.size(), named.size());
  for (std::size_t i = 0; i < named.size(); ++i)
    EXPECT_EQ(named[i].value, static_cast<double>(i + 1)) << named[i].kind->key;
}

TEST(ScoreKinds, EveryFieldHasOneNameAndEveryNameOneField) {
  ExpectEveryFieldOnce<Scores>();
  ExpectEveryFieldOnce<ClassScores>();
  // A new member of either struct must be listed.
  EXPECT_EQ(sizeof(Scores), ScoreFields<Scores>().size() * sizeof(double) + sizeof(Index));
}

TEST(ScoreKinds, BothNamesOfAScoreAreKnown) {
  const ScoreKind* kind = FindScore("log_likelihood");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(FindScore("mean_log_likelihood"), kind);
  EXPECT_TRUE(kind->larger_is_better());
  EXPECT_FALSE(FindScore("rmse")->larger_is_better());
  EXPECT_STREQ(FindScore("brier")->key, "brier");
  EXPECT_EQ(FindScore("nonsense"), nullptr);
}

TEST(ScoreKinds, NumbersAndClassesAgreeOnTheNamesThatTheyShare) {
  for (const ScoreKind& a : ScoreFields<Scores>()) {
    for (const ScoreKind& b : ScoreFields<ClassScores>()) {
      if (std::string(a.key) != b.key) continue;
      EXPECT_STREQ(a.study_key, b.study_key);
      EXPECT_STREQ(a.heading, b.heading);
      EXPECT_EQ(a.better, b.better);
    }
  }
}

TEST(ScoreKinds, TablesHaveHeadings) {
  for (const ScoreKind* kind : TabledScores()) {
    EXPECT_STRNE(kind->heading, "");
    EXPECT_STRNE(kind->label, "");
    EXPECT_TRUE(kind->in_studies);
  }
}

}  // namespace
}  // namespace fathom
