#include "fathom/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fathom/data/test_folder.h"

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const double kNaN = std::numeric_limits<double>::quiet_NaN();

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
  EXPECT_EQ(data.source, "train.csv");
  EXPECT_THAT(data.input_names, ElementsAre("a", "b", "z"));
  EXPECT_THAT(data.target_names, ElementsAre("y"));
  EXPECT_EQ(data.dropped_rows, 1);
  ASSERT_EQ(data.rows(), 2);
  EXPECT_EQ(data.targets(1, 0), 30);
  EXPECT_EQ(data.inputs.mean(1, 1), 23);
  EXPECT_EQ(data.inputs.var(1, 1), 0);
}

TEST(MakeDataset, MarksMissingInputsInMeanAndVariance) {
  const Dataset data = MakeDataset(Sample(), {"y"});
  EXPECT_TRUE(std::isnan(data.inputs.mean(0, 1)));
  EXPECT_TRUE(std::isnan(data.inputs.var(0, 1)));
  EXPECT_EQ(data.inputs.var.array().isNaN().count(), 1);
}

TEST(MakeDataset, TakesSeveralTargetsInTheGivenOrderAndByNumber) {
  const Dataset data = MakeDataset(Sample(), {"z", "2"});
  EXPECT_THAT(data.target_names, ElementsAre("z", "y"));
  EXPECT_EQ(data.targets(1, 0), 300);
  EXPECT_EQ(data.targets(1, 1), 30);
  EXPECT_THAT(data.input_names, ElementsAre("a", "b"));
}

TEST(MakeDataset, NeedsNoTarget) {
  const Dataset data = MakeDataset(Sample(), {});
  EXPECT_EQ(data.targets.rows(), 3);
  EXPECT_EQ(data.targets.cols(), 0);
  EXPECT_EQ(data.inputs.cols(), 4);
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

TEST(SelectInputs, PicksByNameInTheModelsOrder) {
  const Dataset data = SelectInputs(Sample(), {"b", "a"});
  EXPECT_THAT(data.input_names, ElementsAre("b", "a"));
  ASSERT_EQ(data.rows(), 3);
  EXPECT_TRUE(std::isnan(data.inputs.var(0, 0)));
  EXPECT_EQ(data.inputs.mean(2, 0), 23);
  EXPECT_EQ(data.inputs.mean(2, 1), 3);
  EXPECT_EQ(data.targets.cols(), 0);
}

TEST(SelectInputs, TakesTargetsOnlyIfAllAreThere) {
  const Dataset both = SelectInputs(Sample(), {"a"}, {"z", "y"});
  EXPECT_THAT(both.target_names, ElementsAre("z", "y"));
  EXPECT_EQ(both.rows(),
            3);  // also the row without a target, which is to be predicted all the same
  EXPECT_TRUE(std::isnan(both.targets(1, 1)));
  const Dataset one = SelectInputs(Sample(), {"a"}, {"y", "w"});
  EXPECT_TRUE(one.target_names.empty());
  EXPECT_EQ(one.targets.cols(), 0);
}

TEST(SelectInputs, NamesMissingColumns) {
  EXPECT_THAT(ErrorOf([] {
                SelectInputs(Sample(), {"a", "B"});
              }),
              HasSubstr("train.csv: there is no column 'B'; did you mean 'b'?"));
  EXPECT_THAT(ErrorOf([] {
                SelectInputs(Sample(), {"p", "a", "q"});
              }),
              HasSubstr("2 input columns of the model are missing: 'p', 'q'"));
  // A number is no name here: the model knows its columns.
  EXPECT_THROW(SelectInputs(Sample(), {"1"}), Error);
}

TEST(Subset, KeepsTheGivenRowsInOrder) {
  const Dataset data = MakeDataset(Sample(), {"z"});
  const std::vector<Index> rows = {2, 0, 2};
  const Dataset subset = Subset(data, rows);
  ASSERT_EQ(subset.rows(), 3);
  EXPECT_EQ(subset.targets.col(0), Eigen::Vector3d(300, 100, 300));
  EXPECT_EQ(subset.inputs.mean(0, 0), 3);
  EXPECT_TRUE(std::isnan(subset.inputs.var(1, 2)));
  EXPECT_EQ(subset.input_names, data.input_names);
  const std::vector<Index> outside = {3};
  EXPECT_THROW(Subset(data, outside), InternalError);
}

}  // namespace
}  // namespace fathom
