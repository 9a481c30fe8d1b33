#include "fathom/data/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Table TableOf(const std::string& text, const ReadOptions& options = {}) {
  const TestFolder folder;
  Table table = ReadTable(folder.Write("t.csv", text), options);
  table.source = "t.csv";
  return table;
}

Schema Make(const std::string& text, const Roles& roles, std::vector<Note>* notes) {
  return MakeSchema(TableOf(text, ReadingFor(roles, {})), roles, notes);
}

std::string SchemaFault(const std::string& text, const Roles& roles = {.targets = {"y"}}) {
  return ErrorOf([&] {
    std::vector<Note> notes;
    Make(text, roles, &notes);
  });
}

TEST(Schema, FindsKindsAndNamesOfInputs) {
  std::vector<Note> notes;
  const Schema schema = Make("a,colour,code,w,y\n1,red,1,1,5\n2,blue,2,1,6\n3,green,1,2,7\n",
                             {.targets = {"y"}, .categorical = {"code"}, .weights = "w"}, &notes);
  EXPECT_TRUE(notes.empty());
  EXPECT_THAT(schema.FeatureNames(),
              ElementsAre("a", "colour=blue", "colour=green", "colour=red", "code=2"));
  EXPECT_EQ(schema.width(), 5);
  EXPECT_EQ(schema.weights, "w");
  EXPECT_EQ(schema.unnamed_columns, 0);
}

TEST(Schema, LeavesOutColumnsThatCannotHelp) {
  std::vector<Note> notes;
  const Schema schema =
      Make("a,same,none,again,text,text again,y\n1,7,,1,p,p,5\n2,7,NA,2,q,q,6\n,,,,,,7\n",
           {.targets = {"y"}}, &notes);
  EXPECT_THAT(schema.FeatureNames(), ElementsAre("a", "text=q"));
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[0].text, "t.csv: left out column 'none': no cell has a value");
  EXPECT_EQ(notes[1].text, "t.csv: left out column 'same': the same value in all rows");
  EXPECT_EQ(notes[2].text,
            "t.csv: left out columns 'again', 'text again': they repeat other columns");
  EXPECT_EQ(notes[2].kind, "duplicate_columns");
  EXPECT_EQ(notes[2].count, 2);
}

TEST(Schema, DatesBecomeNumbers) {
  std::vector<Note> notes;
  const std::string text = "when,y\n2024-05-31,5\n2023-01-01,6\n,7\n";
  const Schema schema = Make(text, {.targets = {"y"}}, &notes);
  EXPECT_THAT(schema.FeatureNames(),
              ElementsAre("when (days)", "when (day of year)", "when (weekday)"));
  EXPECT_EQ(schema.width(), 3);
  EXPECT_EQ(schema.inputs[0].first_date, 19358);  // 2023-01-01
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0].text, HasSubstr("becomes days since 2023-01-01, day of year, weekday"));
  EXPECT_THAT(SchemaFault(text, {.targets = {"y"}, .ignore_dates = true}),
              HasSubstr("no input columns"));
  EXPECT_THAT(SchemaFault("x,y\n1,2024-05-31\n2,2023-01-01\n"),
              HasSubstr("is a target but holds dates"));
}

TEST(Schema, LeavesOutTheIndexUnlessItHasARole) {
  std::vector<Note> notes;
  const std::string text = ",x,y\n0,3,5\n1,5,6\n";
  EXPECT_THAT(Make(text, {.targets = {"y"}}, &notes).FeatureNames(), ElementsAre("x"));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, "index_column");
  EXPECT_THAT(Make(text, {.targets = {"1"}}, &notes).FeatureNames(), ElementsAre("x", "y"));
}

TEST(Schema, RefusesNumbersInDifferentUnits) {
  const std::string text = "x,y\n3 kg,1\n500 g,2\n4 kg,3\n";
  EXPECT_THAT(SchemaFault(text),
              HasSubstr("numbers in different units, such as '500 g' and '3 kg'"));
  std::vector<Note> notes;
  EXPECT_EQ(Make(text, {.targets = {"y"}, .categorical = {"x"}}, &notes).width(), 3);
}

TEST(Schema, OtherTextsAreNoDates) {
  std::vector<Note> notes;
  for (const std::string text : {"1-2", "a-b-c", "1.2.3x", "12345-1-1", "555-1234"}) {
    EXPECT_THAT(Make("t,y\n" + text + ",5\nother,6\n", {.targets = {"y"}}, &notes).inputs,
                testing::SizeIs(1))
        << text;
  }
}

// A table of `rows` rows with the columns t, x and y.
std::string WithTexts(int rows, const std::function<std::string(int)>& text) {
  std::string table = "t,x,y\n";
  for (int n = 0; n < rows; ++n) table += text(n) + "," + std::to_string(n * n % 17) + ",1\n";
  return table;
}

TEST(Schema, LeavesOutTextsThatNoTwoRowsShare) {
  std::vector<Note> notes;
  const auto id = [](int n) { return n == 5 ? "" : "u" + std::to_string(n); };
  EXPECT_THAT(Make(WithTexts(300, id), {.targets = {"y"}}, &notes).FeatureNames(),
              ElementsAre("x"));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, "id_columns");
  EXPECT_THAT(notes[0].text, HasSubstr("left out column 't': a text of its own in every row"));
  // More than are remembered.
  EXPECT_THAT(Make(WithTexts(10100, id), {.targets = {"y"}}, &notes).FeatureNames(),
              ElementsAre("x"));
  // In so few rows they may be categories.
  EXPECT_EQ(Make(WithTexts(20, id), {.targets = {"y"}}, &notes).width(), 20);
}

TEST(Schema, RefusesTextsOfTheirOwnThatCouldBeInputs) {
  const auto numbered = [](int n) { return "person " + std::to_string(n); };
  // One text comes twice.
  EXPECT_THAT(SchemaFault(WithTexts(300, [&](int n) { return numbered(n % 299); })),
              HasSubstr("column 't': has a text of its own in nearly every row"));
  EXPECT_THAT(SchemaFault(WithTexts(300, numbered), {.targets = {"y"}, .categorical = {"t"}}),
              HasSubstr("leave it out (ignore: t)"));
  const auto with_unit = [](int n) { return std::to_string(n) + (n % 2 == 0 ? " kg" : " g"); };
  EXPECT_THAT(SchemaFault(WithTexts(300, with_unit)), HasSubstr("different units"));
  const auto bits = [](int n) {
    std::string digits(64, '0');
    digits[static_cast<std::size_t>(n)] = 'a';
    return digits;
  };
  EXPECT_THAT(SchemaFault(WithTexts(60, bits)), HasSubstr("nearly every row"));
}

TEST(Schema, RefusesTextsThatMakeNoCategories) {
  std::string many = "t,y\n";
  for (int n = 0; n < 300; ++n) many += "kind " + std::to_string(n % 101) + ",1\n";
  EXPECT_THAT(SchemaFault(many),
              HasSubstr("column 't': has 101 different values, such as 'kind 0'"));
}

TEST(Schema, RefusesContradictions) {
  const std::string text = "a,b,y\n1,2,3\n4,5,6\n";
  EXPECT_THAT(SchemaFault(text, {.targets = {"y", "3"}}),
              HasSubstr("'y' is named as a target twice"));
  EXPECT_THAT(SchemaFault(text, {.targets = {"y"}, .weights = "y"}),
              HasSubstr("'y' is named as a target and as the weights"));
  EXPECT_THAT(SchemaFault(text, {.targets = {"a", "b", "y"}}),
              HasSubstr("no input columns are left"));
  EXPECT_THAT(SchemaFault(text, {.targets = {"yy"}}), HasSubstr("did you mean 'y'?"));
  EXPECT_THAT(SchemaFault("a,y\n1,low\n2,high\n", {.targets = {"y"}, .task = Task::kRegress}),
              HasSubstr("t.csv: line 2, column 'y': 'low' is not a number"));
}

TEST(Schema, ATargetOfTextsHasClassesAndOneOfNumbersOnRequest) {
  using testing::ElementsAre;
  std::vector<Note> notes;
  const std::string texts = "a,y\n1,low\n2,high\n3,low\n";
  const std::string numbers = "a,y\n1,10\n2,9\n3,10\n";
  EXPECT_THAT(Make(texts, {.targets = {"y"}}, &notes).classes, ElementsAre("high", "low"));
  EXPECT_THAT(Make(numbers, {.targets = {"y"}}, &notes).classes, ElementsAre());
  EXPECT_THAT(Make(numbers, {.targets = {"y"}, .task = Task::kClassify}, &notes).classes,
              ElementsAre("9", "10"));
  EXPECT_THAT(SchemaFault("a,y\n1,low\n2,low\n"), HasSubstr("holds one class only, 'low'"));
  EXPECT_THAT(SchemaFault("a,y,z\n1,low,1\n2,high,2\n", {.targets = {"y", "z"}}),
              HasSubstr("for one target alone, not for 2"));
}

TEST(Schema, ReadsATableForPredictionAsTheModelKnowsIt) {
  std::vector<Note> notes;
  const Schema schema =
      Make("5,1,red\n6,2,blue\n7,3,red\n", {.targets = {"1"}}, &notes);  // a header, it seems
  EXPECT_EQ(schema.unnamed_columns, 0);
  const Table unnamed = TableOf("5,1,red\n6,2,blue\n7,3,red\n", {.header = Header::kAbsent});
  const Schema positional = MakeSchema(unnamed, {.targets = {"1"}}, &notes);
  EXPECT_EQ(positional.unnamed_columns, 3);
  EXPECT_THAT(positional.FeatureNames(), ElementsAre("x2", "x3=red"));
  // Without the target the columns move; by their number they are found all the same.
  const Table inputs = TableOf("9,blue\n", ReadingFor(positional, {.header = Header::kAbsent}));
  EXPECT_THAT(inputs.columns, ElementsAre("x2", "x3"));
  const Table all = TableOf("0,9,blue\n", ReadingFor(positional, {.header = Header::kAbsent}));
  EXPECT_THAT(all.columns, ElementsAre("x1", "x2", "x3"));
  EXPECT_EQ(all.values(0, 1), 9);
}

}  // namespace
}  // namespace fathom
