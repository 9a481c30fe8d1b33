#include "fathom/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/nan.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Table Sample() {
  Table table;
  table.source = "train.csv";
  table.columns = {"a", "y", "b", "z"};
  table.values.resize(3, 4);
  table.values << 1, 10, kNaN, 100,  //
      2, kNaN, 22, 200,              //
      3, 30, 23, 300;
  return table;
}

TEST(MakeDataset, SplitsColumnsAndDropsRowsWithoutTarget) {
  const Dataset data = MakeDataset(Sample(), {"y"});
  EXPECT_EQ(data.source(), "train.csv");
  EXPECT_THAT(data.schema().FeatureNames(), ElementsAre("a", "b", "z"));
  EXPECT_THAT(data.schema().targets, ElementsAre("y"));
  EXPECT_EQ(data.dropped_rows(), 1);
  ASSERT_EQ(data.rows(), 2);
  EXPECT_EQ(data.targets()(1, 0), 30);
  EXPECT_EQ(data.inputs().mean(1, 1), 23);
  EXPECT_EQ(data.inputs().var(1, 1), 0);
}

TEST(MakeDataset, MarksMissingInputsInMeanAndVariance) {
  const Dataset data = MakeDataset(Sample(), {"y"});
  EXPECT_TRUE(std::isnan(data.inputs().mean(0, 1)));
  EXPECT_TRUE(std::isnan(data.inputs().var(0, 1)));
  EXPECT_EQ(data.inputs().var.array().isNaN().count(), 1);
}

TEST(MakeDataset, TakesSeveralTargetsInTheGivenOrderAndByNumber) {
  const Dataset data = MakeDataset(Sample(), {"z", "2"});
  EXPECT_THAT(data.schema().targets, ElementsAre("z", "y"));
  // A row that has one of them stays.
  EXPECT_EQ(data.targets()(1, 0), 200);
  EXPECT_TRUE(std::isnan(data.targets()(1, 1)));
  EXPECT_EQ(data.targets()(2, 0), 300);
  EXPECT_EQ(data.targets()(2, 1), 30);
  EXPECT_THAT(data.schema().FeatureNames(), ElementsAre("a", "b"));
}

TEST(MakeDataset, NeedsNoTarget) {
  const Dataset data = MakeDataset(Sample(), Roles());
  EXPECT_EQ(data.targets().rows(), 3);
  EXPECT_EQ(data.targets().cols(), 0);
  EXPECT_EQ(data.inputs().cols(), 4);
}

TEST(MakeDataset, RefusesWhatCannotBeLearned) {
  EXPECT_THAT(ErrorOf([] { MakeDataset(Sample(), {"x"}); }), HasSubstr("there is no column 'x'"));
  EXPECT_THAT(ErrorOf([] {
                MakeDataset(Sample(), {"y", "2"});
              }),
              HasSubstr("'y' is named as a target twice"));
  EXPECT_THAT(ErrorOf([] {
                MakeDataset(Sample(), {"a", "b", "y", "z"});
              }),
              HasSubstr("no input columns are left"));
  Table unknown = Sample();
  unknown.values.col(1).setConstant(kNaN);
  EXPECT_THAT(ErrorOf([&] { MakeDataset(unknown, {"y"}); }),
              HasSubstr("train.csv: no row has a value in target column 'y'"));
  Table none = Sample();
  none.values.resize(0, 4);
  EXPECT_THAT(ErrorOf([&] { MakeDataset(none, {"y"}); }), HasSubstr("has no rows"));
}

TEST(InputRows, PicksByNameInTheModelsOrder) {
  const Table table = Sample();
  const Dataset data = InputRows(table, NumericSchema({"b", "a"}, {"w"})).Read();
  EXPECT_THAT(data.schema().FeatureNames(), ElementsAre("b", "a"));
  ASSERT_EQ(data.rows(), 3);
  EXPECT_TRUE(std::isnan(data.inputs().var(0, 0)));
  EXPECT_EQ(data.inputs().mean(2, 0), 23);
  EXPECT_EQ(data.inputs().mean(2, 1), 3);
  EXPECT_EQ(data.targets().cols(), 0);
  const Dataset last = InputRows(table, NumericSchema({"b", "a"}, {})).Read(2, 1);
  EXPECT_EQ(last.inputs().mean(0, 1), 3);
}

TEST(InputRows, TakesTargetsOnlyIfAllAreThere) {
  const Table table = Sample();
  const Dataset both = InputRows(table, NumericSchema({"a"}, {"z", "y"})).Read();
  EXPECT_THAT(both.schema().targets, ElementsAre("z", "y"));
  EXPECT_EQ(both.rows(),
            3);  // also the row without a target, which is to be predicted all the same
  EXPECT_TRUE(std::isnan(both.targets()(1, 1)));
  const Dataset one = InputRows(table, NumericSchema({"a"}, {"y", "w"})).Read();
  EXPECT_EQ(one.targets().cols(), 0);
}

TEST(InputRows, NamesMissingColumns) {
  const Table table = Sample();
  const auto fault = [&](const std::vector<std::string>& inputs) {
    return ErrorOf([&] { InputRows(table, NumericSchema(inputs, {})); });
  };
  EXPECT_THAT(fault({"a", "B"}), HasSubstr("train.csv: there is no column 'B'; did you mean 'b'?"));
  EXPECT_THAT(fault({"p", "a", "q"}),
              HasSubstr("2 input columns of the model are missing: 'p', 'q'"));
  // A number is no name here: the model knows its columns.
  EXPECT_THAT(fault({"1"}), HasSubstr("there is no column '1'"));
}

// Two categories, three categories with a gap, and a number.
Table Coloured() {
  Table table;
  table.source = "t.csv";
  table.columns = {"sex", "colour", "x", "y"};
  table.levels = {{"f", "m"}, {"blue", "green", "red"}, {}, {}};
  table.values.resize(4, 4);
  table.values << 0, 2, 1, 10,  //
      1, 0, 2, 20,              //
      0, 1, 3, 30,              //
      1, kNaN, 4, 40;
  return table;
}

TEST(MakeDataset, TurnsCategoriesIntoIndicators) {
  const Dataset data = MakeDataset(Coloured(), {"y"});
  EXPECT_THAT(data.schema().FeatureNames(),
              ElementsAre("sex=m", "colour=blue", "colour=green", "colour=red", "x"));
  Matrix expected(4, 5);
  expected << 0, 0, 0, 1, 1,  //
      1, 1, 0, 0, 2,          //
      0, 0, 1, 0, 3,          //
      1, kNaN, kNaN, kNaN, 4;
  EXPECT_EQ(data.inputs().mean.topRows(3), expected.topRows(3));
  EXPECT_TRUE(data.inputs().mean.row(3).segment(1, 3).array().isNaN().all());
  EXPECT_TRUE(data.inputs().var.row(3).segment(1, 3).array().isNaN().all());
  EXPECT_EQ(data.inputs().var.topRows(3), Matrix::Zero(3, 5));
}

TEST(InputRows, TakesUnseenLevelsAsMissingAndCountsThem) {
  const Schema schema = MakeDataset(Coloured(), {"y"}).schema();
  Table table = Coloured();
  table.levels[1] = {"green", "mauve", "red"};
  const InputRows rows(table, schema);
  ASSERT_EQ(rows.notes().size(), 1U);
  EXPECT_EQ(rows.notes()[0].kind, "unseen_levels");
  EXPECT_EQ(rows.notes()[0].count, 1);
  EXPECT_THAT(rows.notes()[0].text, HasSubstr("column 'colour': 1 cell holds a value that the"));
  const Dataset data = rows.Read();
  EXPECT_EQ(data.inputs().mean(0, 3), 1);  // red
  EXPECT_EQ(data.inputs().mean(1, 2), 1);  // green
  EXPECT_TRUE(std::isnan(data.inputs().mean(2, 1)));
  Table numbers = Coloured();
  numbers.levels.clear();
  EXPECT_THAT(ErrorOf([&] { InputRows(numbers, schema); }),
              HasSubstr("column 'sex' holds numbers but the model has learnt it as categories"));
}

TEST(MakeDataset, WeighsRows) {
  Table table = Coloured();
  const Roles ratios{.targets = {"y"}, .weights = "x"};
  EXPECT_TRUE(MakeDataset(table, ratios).weights().isApprox(Eigen::Vector4d(0.4, 0.8, 1.2, 1.6)));
  const Roles roles{.targets = {"y"}, .weights = "x", .weights_are_counts = true};
  EXPECT_EQ(MakeDataset(table, roles).weights(), Eigen::Vector4d(1, 2, 3, 4));
  table.values(1, 2) = 0;
  const Dataset dropped = MakeDataset(table, roles);
  EXPECT_EQ(dropped.weights(), Eigen::Vector3d(1, 3, 4));
  EXPECT_EQ(dropped.dropped_rows(), 1);
  ASSERT_EQ(dropped.notes().size(), 1U);
  EXPECT_EQ(dropped.notes()[0].text, "t.csv: skipped 1 row of weight 0");
  const std::vector<Index> last = {2};
  EXPECT_EQ(Subset(dropped, last).weights()[0], 4);
  table.values(2, 2) = -1;
  EXPECT_THAT(ErrorOf([&] { MakeDataset(table, roles); }),
              HasSubstr("t.csv: row 3, column 'x': the weight is negative"));
  table.values(2, 2) = kNaN;
  EXPECT_THAT(ErrorOf([&] { MakeDataset(table, roles); }), HasSubstr("the weight is missing"));
}

TEST(MakeDataset, GivesCellsAVariance) {
  const Table table = Coloured();
  InputStd std{.columns = {{"x", 0.5}}};
  EXPECT_EQ(MakeDataset(table, Roles{.targets = {"y"}}, std).inputs().var.col(4),
            Vector::Constant(4, 0.25));
  std.cells.source = "std.csv";
  std.cells.columns = {"y", "x"};
  std.cells.values.resize(4, 2);
  std.cells.values << 9, 2, 9, kNaN, 9, 0, 9, 1;
  EXPECT_EQ(MakeDataset(table, Roles{.targets = {"y"}}, std).inputs().var.col(4),
            Eigen::Vector4d(4.25, 0.25, 0.25, 1.25));
  const auto fault = [&] {
    return ErrorOf([&] { MakeDataset(table, Roles{.targets = {"y"}}, std); });
  };
  std.cells.values(2, 1) = -1;
  EXPECT_THAT(fault(), HasSubstr("std.csv: row 3, column 'x': -1 is no standard deviation"));
  std.cells.values.conservativeResize(3, 2);
  EXPECT_THAT(fault(), HasSubstr("std.csv: has 3 rows of standard deviations for 4 rows"));
  std.cells = {};
  std.columns = {{"sex", 1}};
  EXPECT_THAT(fault(), HasSubstr("column 'sex' holds categories"));
  std.columns = {{"z", 1}};
  EXPECT_THAT(fault(), HasSubstr("there is no input column 'z'"));
}

TEST(Subset, KeepsTheGivenRowsInOrder) {
  const Dataset data = MakeDataset(Sample(), {"z"});
  const std::vector<Index> rows = {2, 0, 2};
  const Dataset subset = Subset(data, rows);
  ASSERT_EQ(subset.rows(), 3);
  EXPECT_EQ(subset.targets().col(0), Eigen::Vector3d(300, 100, 300));
  EXPECT_EQ(subset.inputs().mean(0, 0), 3);
  EXPECT_TRUE(std::isnan(subset.inputs().var(1, 2)));
  EXPECT_EQ(subset.schema().FeatureNames(), data.schema().FeatureNames());
  const std::vector<Index> outside = {3};
  EXPECT_THROW(Subset(data, outside), InternalError);
}

TEST(Dataset, RefusesPartsThatDoNotFit) {
  const DatasetParts good{.source = "rows",
                          .schema = NumericSchema({"a", "b"}, {"y"}),
                          .inputs = Moments::Certain(Matrix::Ones(3, 2)),
                          .targets = Matrix::Ones(3, 1)};
  EXPECT_EQ(Dataset(good).rows(), 3);
  const auto expect = [&](const auto& change, const char* because) {
    DatasetParts parts = good;
    change(&parts);
    EXPECT_THAT(ErrorOf([&] { Dataset dataset(parts); }), HasSubstr(because));
  };
  expect([](DatasetParts* parts) { parts->targets = Matrix::Ones(2, 1); },
         "rows: there are 2 rows of targets where 3 rows are needed");
  expect([](DatasetParts* parts) { parts->targets = Matrix::Ones(3, 2); }, "2 target columns");
  expect([](DatasetParts* parts) { parts->inputs.var.resize(3, 1); }, "input variances");
  expect([](DatasetParts* parts) { parts->schema = NumericSchema({"a"}, {"y"}); },
         "2 input columns where 1 named ones");
  expect(
      [](DatasetParts* parts) {
        parts->schema = NumericSchema({"a", "y"}, {"y"});
      },
      "column 'y' is named twice");
  expect([](DatasetParts* parts) { parts->weights = Vector::Ones(2); }, "2 weights");
  expect([](DatasetParts* parts) { parts->weights = Vector::Zero(3); }, "row 1: the weight is 0");
  expect([](DatasetParts* parts) { parts->inputs.mean(1, 1) = HUGE_VAL; },
         "row 2, column 'b': the number is infinite; leave the cell empty if its value is unknown");
  expect([](DatasetParts* parts) { parts->inputs.var(2, 0) = -1; }, "row 3, column 'a'");
  expect([](DatasetParts* parts) { parts->targets(0, 0) = -HUGE_VAL; }, "row 1, column 'y'");
  expect([](DatasetParts* parts) { parts->schema.classes = {"only"}; }, "not the place of a class");
  expect([](DatasetParts* parts) { parts->table_rows = {1}; }, "table rows");
}

}  // namespace
}  // namespace fathom
