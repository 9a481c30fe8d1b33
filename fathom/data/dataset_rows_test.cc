#include "fathom/data/dataset_rows.h"

#include <gtest/gtest.h>

#include <sstream>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/data/fingerprint.h"
#include "fathom/data/input_range.h"
#include "fathom/data/target_nature.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

class DatasetRowsTest : public testing::Test {
 protected:
  // Gaps, categories, dates, a constant and a repeated column, weights that are 0 at times, and
  // rows without a target.
  std::string Text(Index rows) const {
    RandomStream stream(2);
    std::ostringstream out;
    out << "a,b,colour,day,same,again,w,y,z\n";
    for (Index n = 0; n < rows; ++n) {
      const double b = stream.Normal();
      out << (n % 9 == 0 ? "" : std::to_string(stream.Normal())) << "," << b << ","
          << (n % 4 == 0   ? "red"
              : n % 4 == 1 ? "blue"
                           : "green")
          << ",2024-0" << 1 + n % 9 << "-03,7," << b << "," << n % 5 << ","
          << (n % 11 == 0 ? "" : "1.5") << ","
          << (n % 22 == 0 ? "" : std::to_string(stream.Normal())) << "\n";
    }
    return out.str();
  }
  RowsOnDisk OnDisk(const Roles& roles, const InputStd& std = {}) const {
    return RowsOnDisk(PackedTable(table_, ReadingFor(roles, {}), {.folder = folder_.Path("")}),
                      roles, std);
  }
  Dataset InMemory(const Roles& roles, const InputStd& std = {}) const {
    return MakeDataset(ReadTable(table_, ReadingFor(roles, {})), roles, std);
  }

  const TestFolder folder_;
  const std::string table_ = folder_.Write("table.csv", Text(10'000));
};

void ExpectSame(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.source(), b.source());
  EXPECT_EQ(a.schema(), b.schema());
  EXPECT_EQ(a.dropped_rows(), b.dropped_rows());
  EXPECT_EQ(a.notes(), b.notes());
  EXPECT_EQ(a.table_rows(), b.table_rows());
  EXPECT_EQ(Fingerprint(a), Fingerprint(b));  // of the numbers
}

TEST_F(DatasetRowsTest, AreWhatMakeDatasetMakes) {
  const InputStd std{.columns = {{"b", 0.1}}};
  for (const Roles& roles : {Roles{.targets = {"y", "z"}}, Roles{.targets = {"z"}, .weights = "w"},
                             Roles{.targets = {"z"}, .weights = "w", .weights_are_counts = true},
                             Roles{.targets = {"colour"}, .ignore = {"y", "z"}}}) {
    const Dataset here = InMemory(roles, std);
    const RowsOnDisk rows = OnDisk(roles, std);
    ExpectSame(ReadAll(rows), here);
    EXPECT_EQ(rows.rows(), here.rows());
    EXPECT_EQ(rows.head().notes(), here.notes());
    EXPECT_EQ(rows.weighted(), here.weights().size() > 0);
    EXPECT_EQ(Fingerprint(rows), Fingerprint(here));
    EXPECT_EQ(FindInputRange(rows), FindInputRange(here.inputs()));
    EXPECT_EQ(DescribeTargets(rows), DescribeTargets(here));
    const std::vector<Index> some = {7001, 3, 4, 5, 6000, 3};
    EXPECT_EQ(Fingerprint(rows.Read(some)), Fingerprint(Subset(here, some)));
    EXPECT_EQ(rows.Read(some).table_rows(), Subset(here, some).table_rows());
  }
}

TEST_F(DatasetRowsTest, ComplainAsMakeDatasetDoes) {
  for (const Roles& roles :
       {Roles{.targets = {"nothing"}}, Roles{.targets = {"day"}},
        Roles{.targets = {"y"}, .weights = "z"}, Roles{.targets = {"y"}, .weights = "colour"}}) {
    const std::string complaint = ErrorOf([&] { InMemory(roles); });
    EXPECT_NE(complaint, "");
    EXPECT_EQ(ErrorOf([&] { OnDisk(roles); }), complaint);
  }
}

}  // namespace
}  // namespace fathom
