#include "fathom/data/csv_ranks.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <functional>
#include <sstream>

#include "fathom/data/table_parts.h"
#include "fathom/distributed/orders.h"
#include "tests/support/ranks_in_threads.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

constexpr Index kRows = 45'000;  // some megabytes of text, so that there are some pieces

// Numbers with gaps, and a column of strings that change along the file.
std::string NumbersAndStrings(Index rows, Index first = 0) {
  std::ostringstream text;
  text.precision(17);
  text << "a,colour,b,y\n";
  for (Index n = first; n < first + rows; ++n) {
    text << std::sin(static_cast<double>(n)) << ",\"level " << (n / 7000) % 9 << (n % 3) << "\","
         << (n % 11 == 0 ? "NA" : std::to_string(n)) << "," << 1.0 / static_cast<double>(n + 1)
         << "\n";
  }
  return text.str();
}

// Counts the cells that come to the first rank.
class Watched : public Communicator {
 public:
  Watched(const Communicator& all, Index* received) : all_(all), received_(*received) {}
  int rank() const override { return all_.rank(); }
  int size() const override { return all_.size(); }
  std::string Name() const override { return all_.Name(); }
  void Broadcast(std::span<std::byte> bytes) const override { all_.Broadcast(bytes); }
  void Exchange(const Parcels& out, Parcels* in) const override {
    all_.Exchange(out, in);
    received_ += std::ssize(in->values);
  }
  int Largest(int value) const override { return all_.Largest(value); }
  std::vector<std::string> Gather(const std::string& text) const override {
    return all_.Gather(text);
  }

 private:
  const Communicator& all_;
  Index& received_;
};

// Does `work` on the first of some ranks; the others help. Returns how many cells they have sent.
Index WithHelp(int ranks, const std::function<void(const Communicator&)>& work) {
  Index received = 0;
  RanksInThreads(ranks).Run([&](const Communicator& all) {
    if (all.rank() == 0) {
      work(Watched(all, &received));
      GiveOrder(Order::kGoHome, all);
      return;
    }
    while (TakeOrder(all) == Order::kRead) HelpReading(all);
  });
  return received;
}

void ExpectSame(const Table& a, const Table& b) {
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.levels, b.levels);
  ASSERT_EQ(a.values.rows(), b.values.rows());
  ASSERT_EQ(a.values.cols(), b.values.cols());
  Index different = 0;
  for (Index i = 0; i < a.values.size(); ++i) {
    const double left = a.values.data()[i];
    const double right = b.values.data()[i];
    const bool same = std::isnan(left) ? std::isnan(right)
                                       : std::bit_cast<std::uint64_t>(left) ==
                                             std::bit_cast<std::uint64_t>(right);
    different += same ? 0 : 1;
  }
  EXPECT_EQ(different, 0);
}

class CsvRanks : public testing::Test {
 protected:
  // Reads the file alone and with help, and compares. Returns the cells that came from helpers.
  Index Compare(const std::string& path, int ranks, int threads = 1) const {
    const Table alone = ReadTable(path, {.threads = 1});
    return WithHelp(ranks, [&](const Communicator& all) {
      ExpectSame(ReadTable(path, {.threads = threads, .ranks = &all}), alone);
    });
  }
  std::string MessageOf(const std::string& path, const Communicator& all) const {
    return ErrorOf([&] { ReadTable(path, {.threads = 1, .ranks = &all}); });
  }
  TestFolder folder_;
};

TEST_F(CsvRanks, ReadTheTableOfOneProcess) {
  const std::string path = folder_.Write("table.csv", NumbersAndStrings(kRows));
  for (const int ranks : {2, 3}) {
    const Index received = Compare(path, ranks, ranks - 1);
    // About an equal share.
    EXPECT_GT(received, 4 * kRows * (ranks - 1) / ranks / 2);
    EXPECT_LT(received, 4 * kRows);
  }
}

TEST_F(CsvRanks, StreamTheSameRows) {
  struct Rows : RowSink {
    void Start(Index columns) override { all = Matrix(0, columns); }
    void Add(const Matrix& rows) override {
      const Index before = all.rows();
      all.conservativeResize(before + rows.rows(), Eigen::NoChange);
      all.bottomRows(rows.rows()) = rows;
    }
    Matrix all;
  };
  const std::string path = folder_.Write("table.csv", NumbersAndStrings(kRows));
  const auto stream = [&](const Communicator& all, std::vector<LevelPlaces>* places) {
    Rows rows;
    Table table = StreamTable(FileBytes(path), {.threads = 1, .ranks = &all}, &rows, places);
    table.values = std::move(rows.all);
    return table;
  };
  std::vector<LevelPlaces> places_alone;
  const Table alone = stream(Alone(), &places_alone);
  const Index received = WithHelp(3, [&](const Communicator& all) {
    std::vector<LevelPlaces> places;
    ExpectSame(stream(all, &places), alone);
    EXPECT_EQ(places, places_alone);
  });
  EXPECT_GT(received, 0);
}

TEST_F(CsvRanks, RowsMayRunOverLines) {
  std::string text = NumbersAndStrings(kRows);
  for (Index n = 0; n < 50; ++n) text += "1,\"two\nlines, and \"\"quotes\"\"\",3,4\n";
  text += NumbersAndStrings(kRows).substr(std::string("a,colour,b,y\n").size());
  const std::string path = folder_.Write("table.csv", text);
  EXPECT_GT(Compare(path, 3), 0);
  // The line of a fault behind them is that of the file.
  const std::string faulty = folder_.Write("faulty.csv", text + "1,x,nonsense\n");
  const std::string alone = MessageOf(faulty, Alone());
  const std::string line = std::to_string(2 * kRows + 2 * 50 + 2);
  EXPECT_NE(alone.find("faulty.csv: line " + line + " has 3 fields"), std::string::npos) << alone;
  WithHelp(3, [&](const Communicator& all) { EXPECT_EQ(MessageOf(faulty, all), alone); });
}

TEST_F(CsvRanks, AFaultIsThatOfOneProcess) {
  const std::string good = NumbersAndStrings(kRows);
  const std::string cut = good.substr(0, good.find('\n', good.size() / 2) + 1);
  const std::string rest = good.substr(cut.size());
  for (const std::string& fault : {std::string("1,x,3\n"), std::string("1,x,infinity,4\n"),
                                   std::string("1,x,3,\"4\n"), std::string("1,\0,3,4\n", 8)}) {
    // Two of them: the first is told.
    std::string text = cut + fault;
    text += rest + fault;
    const std::string path = folder_.Write("table.csv", text);
    const std::string alone = MessageOf(path, Alone());
    WithHelp(3, [&](const Communicator& all) { EXPECT_EQ(MessageOf(path, all), alone); });
  }
}

TEST_F(CsvRanks, AColumnMayTurnOutToHoldStrings) {
  // The first lines show numbers. All others are words, so that the column is read again.
  std::string text = "a,b\n";
  for (Index n = 0; n < 2000; ++n) text += "1,2\n";
  const std::string words[] = {std::string(100, 'h'), std::string(90, 'l')};
  for (Index n = 0; n < 30'000; ++n) text += "1," + words[n % 2] + "\n";
  EXPECT_GT(Compare(folder_.Write("table.csv", text), 2), 0);
}

TEST_F(CsvRanks, PartsAreDividedToo) {
  folder_.Write("part-1.csv", NumbersAndStrings(kRows));
  folder_.Write("part-2.csv", NumbersAndStrings(kRows, kRows));
  EXPECT_GT(Compare(folder_.Path("part-*.csv"), 3), 0);
}

TEST_F(CsvRanks, OnlyTheFirstRankNeedsTheFile) {
  const std::string text = NumbersAndStrings(kRows);
  const std::string path = folder_.Write("table.csv", text);
  const Table alone = ReadTable(path);
  for (const bool another : {false, true}) {
    SCOPED_TRACE(another ? "another file has its name" : "no file has its name");
    folder_.Write("table.csv", text);
    const FileBytes file(path);
    std::filesystem::rename(path, folder_.Path("moved.csv"));
    if (another) folder_.Write("table.csv", std::string(text.size(), '7'));
    const Index received = WithHelp(3, [&](const Communicator& all) {
      ExpectSame(ReadTable(file, {.threads = 1, .ranks = &all}), alone);
    });
    EXPECT_EQ(received, 0);
  }
}

}  // namespace
}  // namespace fathom
