#include "fathom/data/packed_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

class PackedTableTest : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.Path(name); }
  PackedTable Pack(const PackOptions& options = {}) const {
    return PackedTable(table_, reading_, options);
  }
  std::string Complaint(const PackOptions& options) const {
    return ErrorOf([&] { Pack(options); });
  }
  // Numbers of all widths, categories, dates and gaps; far more than a block and a piece of text.
  void WriteTable(Index rows) const {
    RandomStream stream(2);
    std::ofstream out(table_);
    out << "small,whole,half,real,colour,day,zero\n";
    for (Index n = 0; n < rows; ++n) {
      out << n % 200 << "," << n << "," << 0.5 * static_cast<double>(n % 999) << ","
          << stream.Normal() << ","
          << (n < rows / 2 ? "red"
              : n % 3 == 0 ? "blue"
                           : "NA")
          << ",2024-01-" << 10 + n % 20 << "," << (n % 7 == 0 ? "-0" : "") << "\n";
    }
  }

  const TestFolder folder_;
  const std::string table_ = File("table.csv");
  ReadOptions reading_;
};

bool SameBits(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (Index i = 0; i < a.size(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    if (std::isnan(x) != std::isnan(y)) return false;
    if (!std::isnan(x) && (x != y || std::signbit(x) != std::signbit(y))) return false;
  }
  return true;
}

TEST_F(PackedTableTest, IsTheTableToTheBit) {
  WriteTable(30'000);
  const Table table = ReadTable(table_, reading_);
  const PackedTable packed = Pack();
  ASSERT_EQ(packed.rows(), table.values.rows());
  EXPECT_TRUE(SameBits(packed.Read(0, packed.rows()), table.values));
  EXPECT_EQ(packed.head().columns, table.columns);
  EXPECT_EQ(packed.head().levels, table.levels);
  EXPECT_EQ(packed.head().formats, table.formats);
  EXPECT_EQ(packed.head().notes, table.notes);
  const std::vector<Index> some = {29'999, 4, 5, 6, 4095, 4096, 17, 17};
  EXPECT_TRUE(SameBits(packed.Read(some), table.values(some, Eigen::all)));
  Index next = 0;
  packed.ForEachBlock([&](Index first, const Matrix& rows) {
    EXPECT_EQ(first, next);
    EXPECT_TRUE(SameBits(rows, table.values.middleRows(first, rows.rows())));
    next += rows.rows();
  });
  EXPECT_EQ(next, packed.rows());
  // 1 + 4 + 4 + 8 + 1 + 2 + 1 bytes a row, where the matrix takes 56.
  EXPECT_LT(packed.bytes(), 30'000 * 23);
}

TEST_F(PackedTableTest, AColumnMayTurnOutToBeTextLate) {
  std::ofstream out(table_);
  out << "a,b\n";
  for (int n = 0; n < 2000; ++n) out << n << "," << n % 3 << "\n";
  for (int n = 0; n < 4000; ++n) out << n << ",word" << n % 2 << "\n";
  out.close();
  const Table table = ReadTable(table_, reading_);
  const PackedTable packed = Pack();
  EXPECT_EQ(packed.head().levels, table.levels);
  EXPECT_TRUE(SameBits(packed.Read(0, packed.rows()), table.values));
}

TEST_F(PackedTableTest, AKeptCopyIsUsedAgainUnlessTheTableOrTheReadingChanges) {
  WriteTable(50);
  const PackOptions keep{.keep = File("kept")};
  EXPECT_FALSE(Pack(keep).was_kept());
  const PackedTable again = Pack(keep);
  EXPECT_TRUE(again.was_kept());
  EXPECT_TRUE(SameBits(again.Read(0, 50), ReadTable(table_, reading_).values));
  EXPECT_EQ(again.head().levels, ReadTable(table_, reading_).levels);
  reading_.ignore = {"small"};
  EXPECT_FALSE(Pack(keep).was_kept());
  EXPECT_TRUE(Pack(keep).was_kept());
  std::ofstream(table_, std::ios::app) << "1,2,3,4,red,2024-02-01,0\n";
  EXPECT_FALSE(Pack(keep).was_kept());
  EXPECT_EQ(Pack(keep).rows(), 51);
}

TEST_F(PackedTableTest, LeavesNothingBehindUnlessItIsKept) {
  WriteTable(50);
  Pack({.folder = File("")});
  EXPECT_EQ(folder_.CountFiles(), 1U);
}

TEST_F(PackedTableTest, ADamagedCopyIsToldFromAnotherFile) {
  WriteTable(5000);
  const std::string kept = File("kept");
  Pack({.keep = kept});
  const std::string whole = TestFolder::Read(kept);
  const std::string damaged = kept + ": is damaged; delete it, and it is made anew";
  for (const std::size_t place : {std::size_t{100}, whole.size() / 2, whole.size() - 90}) {
    std::string bytes = whole;
    bytes[place] ^= 1;
    std::ofstream(kept, std::ios::binary) << bytes;
    EXPECT_EQ(Complaint({.keep = kept}), damaged) << place;
  }
  for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{30}}) {
    std::ofstream(kept, std::ios::binary) << whole.substr(0, size);
    EXPECT_EQ(Complaint({.keep = kept}), damaged) << size;
  }
  std::ofstream(kept) << "my letters\n";
  EXPECT_EQ(Complaint({.keep = kept}),
            kept + ": is there already and no packed table; name another file");
}

TEST_F(PackedTableTest, SaysWhereItCannotBeWritten) {
  WriteTable(50);
  EXPECT_EQ(Complaint({.folder = File("nowhere")}),
            File("nowhere") + ": cannot write the packed copy of " + table_ +
                ": No such file or directory; make the folder first");
}

TEST_F(PackedTableTest, ATableThatChangesMeanwhileIsRefused) {
  WriteTable(30'000);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    auto time = std::filesystem::last_write_time(table_);
    while (!done) std::filesystem::last_write_time(table_, time += std::chrono::seconds(1));
  });
  EXPECT_EQ(Complaint({}),
            table_ + ": was changed while it was read; try again when nothing writes to it");
  done = true;
  writer.join();
}

TEST_F(PackedTableTest, SeveralFilesAreOneTable) {
  folder_.Write("p-1.csv", "a,b\n1,x\n2,y\n");
  folder_.Write("p-2.csv", "a,b\n3,y\n4,z\n");
  const PackedTable packed(File("p-*.csv"), {}, {});
  const Table table = ReadTable(File("p-*.csv"));
  EXPECT_EQ(table.values.rows(), 4);
  EXPECT_TRUE(SameBits(packed.Read(0, 4), table.values));
  EXPECT_EQ(packed.head().levels, table.levels);
}

}  // namespace
}  // namespace fathom
