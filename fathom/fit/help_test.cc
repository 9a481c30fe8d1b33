#include "fathom/fit/help.h"

#include <gtest/gtest.h>

#include <sstream>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/data/dataset_rows.h"
#include "fathom/data/fingerprint.h"
#include "fathom/data/input_range.h"
#include "fathom/data/target_nature.h"
#include "fathom/fit/fit.h"
#include "tests/support/ranks_in_threads.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

// Does `lead` on the first of some ranks; the others help.
void Lead(int ranks, const std::function<void(const Communicator&)>& lead) {
  RanksInThreads(ranks).Run([&](const Communicator& all) {
    if (all.rank() > 0) {
      Help(all);
      return;
    }
    lead(all);
    DismissHelpers(all);
  });
}

// Gaps, categories of which some occur late, dates, columns that repeat each other and never vary,
// weights that are 0 at times, and rows without a target; in 5 groups of rows.
std::string LongTable() {
  RandomStream stream(2);
  std::ostringstream out;
  out << "a,b,colour,day,same,again,w,y,z\n";
  for (Index n = 0; n < 70'000; ++n) {
    const double b = stream.Normal();
    out << (n % 9 == 0 ? "" : std::to_string(stream.Normal())) << "," << b << ","
        << (n % 4 == 0   ? "red"
            : n > 50'000 ? "blue"
                         : "green")
        << ",2024-0" << 1 + n % 9 << "-03,7," << b << "," << n % 5 << ","
        << (n % 11 == 0 ? "" : "1.5") << ","
        << (n % 22 == 0 ? "" : std::to_string(b + stream.Normal())) << "\n";
  }
  return out.str();
}

class RowsAtRanks : public testing::Test {
 protected:
  RowsOnDisk Rows(const Roles& roles, const Communicator& all, double memory) const {
    const ReadOptions reading = ReadingFor(roles, {.threads = 1, .ranks = &all});
    EXPECT_TRUE(MayStayWithRanks(table_, reading));
    return RowsOnDisk(
        PackedTable(table_, reading, {.folder = folder_.Path(""), .share = true, .memory = memory}),
        roles, std_);
  }
  Dataset InMemory(const Roles& roles) const {
    return MakeDataset(ReadTable(table_, ReadingFor(roles, {})), roles, std_);
  }

  const TestFolder folder_;
  const std::string table_ = folder_.Write("table.csv", LongTable());
  const InputStd std_{.columns = {{"b", 0.1}}};
};

TEST_F(RowsAtRanks, AreWhatMakeDatasetMakes) {
  for (const Roles& roles : {Roles{.targets = {"y", "z"}}, Roles{.targets = {"z"}, .weights = "w"},
                             Roles{.targets = {"colour"}, .ignore = {"y", "z"}}}) {
    const Dataset here = InMemory(roles);
    const RowStatistics alone = RowsInMemory(here).statistics();
    const std::vector<Index> some = {40'001, 3, 4, 5, 33'000, here.rows() - 1, 3};
    for (const double memory : {0.0, HUGE_VAL}) {
      Lead(3, [&](const Communicator& all) {
        const RowsOnDisk rows = Rows(roles, all, memory);
        EXPECT_EQ(rows.ranks().size(), 3);
        const std::vector<Index> firsts = rows.firsts();
        EXPECT_TRUE(firsts[0] == 0 && firsts[1] > 10'000 && firsts[2] > firsts[1] + 10'000);
        EXPECT_EQ(rows.rows(), here.rows());
        EXPECT_EQ(rows.schema(), here.schema());
        EXPECT_EQ(rows.head().notes(), here.notes());
        EXPECT_EQ(rows.head().dropped_rows(), here.dropped_rows());
        EXPECT_EQ(rows.fingerprint(), Fingerprint(here));
        EXPECT_EQ(FindInputRange(rows), FindInputRange(here.inputs()));
        EXPECT_EQ(DescribeTargets(rows), DescribeTargets(here));
        EXPECT_EQ(rows.statistics().input_scaler, alone.input_scaler);
        EXPECT_EQ(rows.statistics().target_scaler, alone.target_scaler);
        EXPECT_EQ(rows.statistics().missing, alone.missing);
        EXPECT_EQ(rows.statistics().largest_var, alone.largest_var);
        EXPECT_EQ(Fingerprint(rows.Read(some)), Fingerprint(Subset(here, some)));
        EXPECT_EQ(rows.Read(some).table_rows(), Subset(here, some).table_rows());
      });
    }
  }
}

TEST_F(RowsAtRanks, ComplainAsMakeDatasetDoes) {
  for (const Roles& roles : {Roles{.targets = {"nothing"}}, Roles{.targets = {"day"}},
                             Roles{.targets = {"y"}, .weights = "colour"}}) {
    const std::string complaint = ErrorOf([&] { InMemory(roles); });
    EXPECT_NE(complaint, "");
    Lead(2, [&](const Communicator& all) {
      EXPECT_EQ(ErrorOf([&] { Rows(roles, all, HUGE_VAL); }), complaint);
    });
  }
}

TEST_F(RowsAtRanks, AFaultIsThatOfOneProcess) {
  std::string text = LongTable();
  text.replace(text.find('\n', text.size() - 5000) + 1, 1, "x");
  const std::string path = folder_.Write("fault.csv", text);
  const Roles roles{.targets = {"z"}};
  const auto pack = [&](const Communicator* all) {
    return ErrorOf([&] {
      PackedTable(path, ReadingFor(roles, {.threads = 1, .ranks = all, .numbers = {"a"}}),
                  {.share = true, .memory = HUGE_VAL});
    });
  };
  const std::string complaint = pack(nullptr);
  EXPECT_NE(complaint.find("line 69"), std::string::npos) << complaint;
  Lead(3, [&](const Communicator& all) { EXPECT_EQ(pack(&all), complaint); });
}

TEST_F(RowsAtRanks, OfPartsAreTheSame) {
  const std::string text = LongTable();
  const std::string header = text.substr(0, text.find('\n') + 1);
  const std::size_t third = text.find('\n', text.size() / 3) + 1;
  folder_.Write("part-1.csv", text.substr(0, third));
  folder_.Write("part-2.csv", header + text.substr(third));
  const Roles roles{.targets = {"z"}};
  const Dataset here = InMemory(roles);
  Lead(2, [&](const Communicator& all) {
    const PackedTable table(folder_.Path("part-*.csv"),
                            ReadingFor(roles, {.threads = 1, .ranks = &all}),
                            {.share = true, .memory = HUGE_VAL});
    EXPECT_EQ(table.ranks().size(), 2);
    EXPECT_EQ(RowsOnDisk(table, roles, std_).fingerprint(), Fingerprint(here));
  });
}

TEST_F(RowsAtRanks, GiveTheModelOfOneProcess) {
  Recipe recipe;
  recipe.stack = Stacking::kNever;
  recipe.architecture.inducing = {10};
  recipe.optimizer.steps = 3;
  recipe.optimizer.batch_size = 500;
  recipe.threads = 1;
  for (const Roles& roles : {Roles{.targets = {"z"}, .weights = "w"},
                             Roles{.targets = {"colour"}, .ignore = {"y", "z"}}}) {
    const Model alone = Fit(InMemory(roles), recipe, {});
    Lead(3, [&](const Communicator& all) {
      const RowsOnDisk rows = Rows(roles, all, HUGE_VAL);
      const Model together = Fit(rows, recipe, {.ranks = &all});
      EXPECT_EQ(together.summary().energy_per_row, alone.summary().energy_per_row);
      EXPECT_EQ(together.data().fingerprint, alone.data().fingerprint);
    });
  }
}

}  // namespace
}  // namespace fathom
