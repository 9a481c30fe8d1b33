#include "fathom/data/table_parts.h"

#include <gtest/gtest.h>

#include "tests/support/test_folder.h"

namespace fathom {
namespace {

class TableParts : public testing::Test {
 protected:
  Table Read(const std::string& name, const ReadOptions& reading = {}) const {
    return ReadTable(OpenTable(folder_.Path(name), reading), reading);
  }
  std::string Complaint(const std::string& name) const {
    const std::string error = ErrorOf([&] { Read(name); });
    // Without the folder.
    std::string text = error;
    const std::string folder = folder_.Path("");
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder))
      text.erase(at, folder.size());
    return text;
  }

  const TestFolder folder_;
};

TEST_F(TableParts, AreOneTableInTheOrderOfTheirNames) {
  folder_.Write("p-2.csv", "a,b\n3,red\n4,blue\n\n");
  folder_.Write("p-1.csv", "a,b\n1,green\n2,red");
  folder_.Write("p-3.csv", "a,b\r\n5,green\r\n");
  folder_.Write("whole.csv", "a,b\n1,green\n2,red\n3,red\n4,blue\n5,green\n");
  const Table parts = Read("p-*.csv");
  const Table whole = Read("whole.csv");
  EXPECT_EQ(parts.columns, whole.columns);
  EXPECT_EQ(parts.levels, whole.levels);
  EXPECT_EQ(parts.values, whole.values);
  EXPECT_EQ(Read("p-1.cs?").values.rows(), 2);
}

TEST_F(TableParts, MayHaveNoNamesAndCommentsBefore) {
  folder_.Write("p-1", "1;2\n3;4\n");
  folder_.Write("p-2", "5;6\n");
  EXPECT_EQ(Read("p-*").values, (Matrix(3, 2) << 1, 2, 3, 4, 5, 6).finished());
  folder_.Write("q-1", "# made today\na,b\n1,2\n");
  folder_.Write("q-2", "# made later\n# by another\na,b\n3,4\n");
  EXPECT_EQ(Read("q-*").values, (Matrix(2, 2) << 1, 2, 3, 4).finished());
}

TEST_F(TableParts, AFaultNamesThePartAndItsLine) {
  folder_.Write("p-1.csv", "a,b\n1,2\n3,4\n");
  folder_.Write("p-2.csv", "# a comment\na,b\n5,6\n7\n");
  EXPECT_EQ(Complaint("p-*.csv").substr(0, 15), "p-2.csv: line 4");
  folder_.Write("p-2.csv", "a,b\n5,6\n");
  folder_.Write("p-1.csv", "a,b\n1,2\n1,2,3\n");
  EXPECT_EQ(Complaint("p-*.csv").substr(0, 15), "p-1.csv: line 3");
}

TEST_F(TableParts, MustBeAlike) {
  folder_.Write("p-1", "a,b\n1,2\n");
  folder_.Write("p-2", "a,c\n1,2\n");
  EXPECT_EQ(Complaint("p-?"),
            "p-2: column 2 is called 'c', but 'b' in p-1; give all parts the same columns in the "
            "same order");
  folder_.Write("p-2", "a,b,c\n1,2,3\n");
  EXPECT_EQ(Complaint("p-?"), "p-2: has 3 columns, but p-1 has 2; give all parts the same columns");
  folder_.Write("p-2", "1,2\n");
  EXPECT_EQ(Complaint("p-?"), "p-2: does not name its columns, but p-1 does; make the parts alike");
  folder_.Write("p-2", "a;b\n1;2\n");
  EXPECT_EQ(Complaint("p-?"), "p-2: has another separator than p-1; write all parts alike");
  EXPECT_EQ(Complaint("q-*"),
            "q-*: cannot open the file: No such file or directory; check its name "
            "and its folder");
}

}  // namespace
}  // namespace fathom
