#include "fathom/data/csv.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <sstream>

#include "fathom/base/random.h"
#include "tests/support/nan.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Table Parse(std::string_view text, const ReadOptions& options = {}) {
  const TestFolder folder;
  return ReadTable(folder.Write("t.csv", text), options);
}

// The message without the folder's name.
std::string Fault(std::string_view text) {
  const std::string message = ErrorOf([&] { Parse(text); });
  const std::size_t name = message.find("t.csv");
  return name == std::string::npos ? message : message.substr(name);
}

void ExpectValues(const Table& table, const std::vector<std::vector<double>>& rows) {
  ASSERT_EQ(table.values.rows(), static_cast<Index>(rows.size()));
  for (std::size_t n = 0; n < rows.size(); ++n) {
    ASSERT_EQ(table.values.cols(), static_cast<Index>(rows[n].size()));
    for (std::size_t c = 0; c < rows[n].size(); ++c) {
      const double value = table.values(static_cast<Index>(n), static_cast<Index>(c));
      if (std::isnan(rows[n][c])) {
        EXPECT_TRUE(std::isnan(value)) << n << "," << c;
      } else {
        EXPECT_EQ(value, rows[n][c]) << n << "," << c;
      }
    }
  }
}

TEST(ReadCsv, ReadsNamesAndNumbers) {
  const Table table = Parse("a,b\n1,-2.5\n3e2,.5\n");
  EXPECT_THAT(table.columns, ElementsAre("a", "b"));
  EXPECT_THAT(table.source, HasSubstr("t.csv"));
  ExpectValues(table, {{1, -2.5}, {300, 0.5}});
}

TEST(ReadCsv, OneColumnAsItIsWritten) {
  const TestFolder folder;
  const FileBytes file(folder.Write(
      "t.csv", "\xef\xbb\xbfname,fp,y\r\na, 0A ,1\r\n\"b\nc\",\"x,\"\"y\"\"\",2\nd,NA,3\n\n"));
  EXPECT_EQ(ReadCsvNames(file, {}), (std::vector<std::string>{"name", "fp", "y"}));
  EXPECT_EQ(ReadCsvStrings(file, "fp", {}), (std::vector<std::string>{"0A", "x,\"y\"", "NA"}));
  EXPECT_EQ(ReadCsvStrings(file, "1", {}), (std::vector<std::string>{"a", "b\nc", "d"}));
  EXPECT_THAT(ErrorOf([&] { ReadCsvStrings(file, "fq", {}); }), HasSubstr("did you mean 'fp'?"));
  const FileBytes ragged(folder.Write("r.csv", "a,b\n1,2\n3\n"));
  EXPECT_THAT(ErrorOf([&] { ReadCsvStrings(ragged, "a", {}); }), HasSubstr("line 3 has 1 field"));
  const FileBytes quotes(folder.Write("q.csv", "a,b\n1,2\n\"3,4\n"));
  EXPECT_THAT(ErrorOf([&] { ReadCsvStrings(quotes, "a", {}); }), HasSubstr("q.csv: line 3"));
}

TEST(ReadCsv, AcceptsTheUsualDialects) {
  ExpectValues(Parse("a,b\r\n1,2\r\n3,4\r\n"), {{1, 2}, {3, 4}});
  ExpectValues(Parse("a,b\n1,2\n3,4"), {{1, 2}, {3, 4}});
  ExpectValues(Parse("a,b\n1,2\n\n \r\n\n"), {{1, 2}});
  ExpectValues(Parse("a,b\n +1 ,\t2\n\"3\", \" +4 \" \n"), {{1, 2}, {3, 4}});
  const Table bom = Parse(
      "\xef\xbb\xbf"
      "a,b\n1,2\n");
  EXPECT_THAT(bom.columns, ElementsAre("a", "b"));
  const Table tabs = Parse("a\tb\tc\n1\t\t3\n4\t5\t\n");
  EXPECT_THAT(tabs.columns, ElementsAre("a", "b", "c"));
  ExpectValues(tabs, {{1, kNaN, 3}, {4, 5, kNaN}});
}

TEST(ReadCsv, ReadsQuotedNames) {
  const Table table = Parse("\"T, in C\",\"say \"\"x\"\"\", plain name ,\"two\nlines\"\n1,2,3,4\n");
  EXPECT_THAT(table.columns, ElementsAre("T, in C", "say \"x\"", "plain name", "two\nlines"));
  ExpectValues(table, {{1, 2, 3, 4}});
}

TEST(ReadCsv, KnowsTheWordsForMissing) {
  const Table table = Parse("a,b\n,NA\nN/A,nan\nNaN,null\n?,\"\"\n , #N/A\n-nan,NULL\n1,2\n");
  ASSERT_EQ(table.values.rows(), 7);
  EXPECT_TRUE(table.values.topRows(6).array().isNaN().all());
  EXPECT_EQ(table.values(6, 1), 2);
}

TEST(ReadCsv, TakesABlankLineInAOneColumnTableAsAMissingCell) {
  ExpectValues(Parse("y\n\n1\n\n2\n\n\n"), {{kNaN}, {1}, {kNaN}, {2}});
}

TEST(ReadCsv, RoundsTinyNumbersToZeroAndKeepsDenormals) {
  ExpectValues(Parse("a,b\n1e-400,5e-324\n-0.0,1.7976931348623157e308\n"),
               {{0, 5e-324}, {0, 1.7976931348623157e308}});
}

TEST(ReadCsv, LeavesOutColumnsOnRequest) {
  const std::string text = "id,x,when,y\n\"A, 7\",1,noon,2\nB8,3,\"dusk\",4\n";
  const Table ignored = Parse(text, {.ignore = {"id", "3"}});
  EXPECT_THAT(ignored.columns, ElementsAre("x", "y"));
  ExpectValues(ignored, {{1, 2}, {3, 4}});
  const Table only = Parse(text, {.only = {{"y"}, {"not there"}}});
  EXPECT_THAT(only.columns, ElementsAre("y"));
  ExpectValues(only, {{2}, {4}});
  EXPECT_THAT(ErrorOf([&] { Parse(text, {.ignore = {"idd"}}); }), HasSubstr("did you mean 'id'?"));
}

TEST(ReadCsv, ReadsFilesWithoutNames) {
  const Table found = Parse("1,2.5\n3,4\n");
  EXPECT_THAT(found.columns, ElementsAre("x1", "x2"));
  EXPECT_EQ(found.unnamed_columns, 2);
  ExpectValues(found, {{1, 2.5}, {3, 4}});
  const Table years = Parse("1999,2000\n3,4\n", {.header = Header::kPresent});
  EXPECT_THAT(years.columns, ElementsAre("1999", "2000"));
  EXPECT_EQ(years.unnamed_columns, 0);
  const Table asked = Parse("red,2\nblue,4\n", {.header = Header::kAbsent, .ignore = {"2"}});
  EXPECT_THAT(asked.columns, ElementsAre("x1"));
  EXPECT_EQ(asked.unnamed_columns, 2);
  const Table given = Parse("1,2\n3,4\n", {.names = {{"p"}, {"p", "q"}}});
  EXPECT_THAT(given.columns, ElementsAre("p", "q"));
  EXPECT_THAT(ErrorOf([] {
                Parse("1,2\n", {.names = {{"p"}, {"p", "q", "r"}}});
              }),
              HasSubstr("has 2 columns without names where 1 or 3 are expected"));
  EXPECT_THAT(Fault("1,2\n3\n"), HasSubstr("line 2 has 1 field but the first line has 2"));
}

TEST(ReadCsv, FindsTheSeparator) {
  ExpectValues(Parse("a;b\n1;2\n"), {{1, 2}});
  ExpectValues(Parse("a|b\n1|2\n"), {{1, 2}});
  ExpectValues(Parse("\"a,b,c\";d\n1;2\n"), {{1, 2}});
  EXPECT_THAT(Parse("a,b,tags\n1,2,p;q\n3,4,p\n").columns, ElementsAre("a", "b", "tags"));
  EXPECT_THAT(Parse("a;b\n1;2\n", {.separator = ':'}).columns, ElementsAre("a;b"));
}

TEST(ReadCsv, ReadsTextsAsLevelsInOrder) {
  const Table table = Parse("colour,y,code\nred,1,10\n\"blue, \"\"dark\"\"\",2,9\n,3,10\nred,4,\n",
                            {.text = {"code"}});
  EXPECT_THAT(table.LevelsOf(0), ElementsAre("blue, \"dark\"", "red"));
  EXPECT_TRUE(table.LevelsOf(1).empty());
  EXPECT_THAT(table.LevelsOf(2), ElementsAre("9", "10"));
  ExpectValues(table, {{1, 1, 1}, {0, 2, 0}, {kNaN, 3, 1}, {1, 4, kNaN}});
}

TEST(ReadCsv, ReadsTextsThatRunOverLines) {
  const Table table = Parse("t,y\n\"a\nb\",1\nc\"d,2\n\"a\nb\",3\n");
  EXPECT_THAT(table.LevelsOf(0), ElementsAre("a\nb", "c\"d"));
  ExpectValues(table, {{0, 1}, {1, 2}, {0, 3}});
  EXPECT_THAT(Fault("t,y\n\"a\nb\",1\nc,2\nd,x\ne,4\n"), HasSubstr("line 5, column 'y': 'x'"));
}

TEST(ReadCsv, GivesTheSameLevelsForAnyNumberOfThreads) {
  RandomStream stream(3);
  std::string text = "t,u,y\n";
  std::vector<std::string> cells;
  while (text.size() < 4U << 20) {
    cells.push_back("level " + std::to_string(stream.Below(50)));
    text += cells.back() + ",\"many " + std::to_string(cells.size()) + "\",1\n";
  }
  const TestFolder folder;
  const std::string path = folder.Write("texts.csv", text);
  for (const int threads : {1, 2, 7}) {
    const Table table = ReadTable(path, {.threads = threads});
    ASSERT_EQ(table.values.rows(), static_cast<Index>(cells.size()));
    EXPECT_EQ(table.LevelsOf(0).size(), 50U);
    EXPECT_EQ(table.LevelsOf(1).size(), Table::kMostLevels + 1);
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const auto level = static_cast<std::size_t>(table.values(static_cast<Index>(n), 0));
      ASSERT_EQ(table.LevelsOf(0)[level], cells[n]) << n;
    }
  }
}

TEST(ReadCsv, NamesLineColumnAndValueOfAFault) {
  EXPECT_THAT(Fault("age,b\n1,2\nabc,3\n2,4\n"),
              HasSubstr("t.csv: line 3, column 'age': 'abc' is not a number; "));
  EXPECT_THAT(Fault("\"two\nlines\",b\n1,2\nx,3\n"), HasSubstr("line 4, column 'two?lines': 'x'"));
  for (const char* const bad : {"+-1", "++1", "1 2", "0x10", "1e", "--1", "1;2", "nan(7)", "- 1"}) {
    EXPECT_THAT(Fault("a,b\n1,2\n1," + std::string(bad) + "\n"), HasSubstr("column 'b'")) << bad;
  }
}

TEST(ReadCsv, RefusesInfiniteNumbers) {
  for (const char* const bad : {"inf", "-INF", "Infinity", "1e999", "-1e400", "+inf"}) {
    const std::string text = Fault("a\n1\n" + std::string(bad) + "\n");
    EXPECT_THAT(text, HasSubstr("t.csv: line 3, column 'a': '" + std::string(bad) +
                                "' is not a finite number"));
  }
}

// Memory behind the text is not ours, and may not be there at all.
TEST(ReadCsv, ReadsNothingBehindTheText) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const pages =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  char* const end = static_cast<char*>(pages) + page;
  ASSERT_EQ(::mprotect(end, page, PROT_NONE), 0);
  for (const std::string_view text :
       {"a,b\n1,2\n3,inf\n", "a,b\n1,2\n3,nan", "a,b\n1,2\n3,1e999", "a,b\n1,2\n3,4e-320",
        "a,b\n1,2\n3,\"4\"", "a,b\n1,2\n3,2024-01-01", "a,b\n1,2\n3,4 kg", "a,b\n1,2\n3,-"}) {
    text.copy(end - text.size(), text.size());
    const FileBytes file("t.csv", {end - text.size(), text.size()});
    Index rows = 0;
    try {
      rows = ReadTable(file).values.rows();
    } catch (const Error&) {
      rows = 2;
    }
    EXPECT_EQ(rows, 2) << text;
  }
  ::munmap(pages, 2 * page);
}

TEST(ReadCsv, CountsTheFieldsOfARaggedLine) {
  EXPECT_THAT(Fault("a,b,c\n1,2,3\n1,2\n"),
              HasSubstr("t.csv: line 3 has 2 fields but the header names 3 columns"));
  EXPECT_THAT(Fault("a,b\n1,2,3,\"4,5\"\n"),
              HasSubstr("line 2 has 4 fields but the header names 2"));
  EXPECT_THAT(Fault("a,b\n1,2,\n"), HasSubstr("line 2 has 3 fields"));
  EXPECT_THAT(Fault("a,b\nx,2,3\n"), HasSubstr("line 2 has 3 fields"));  // before the text in it
  EXPECT_THAT(Fault("a,b\n1,2\n\n3,4\n"), HasSubstr("line 3 is blank"));
}

TEST(ReadCsv, RecognizesDecimalCommas) {
  ExpectValues(Parse("a,b\n1,\"3,5\"\n"), {{1, 3.5}});
  ExpectValues(Parse("a;b\n1,5;2\n"), {{1.5, 2}});
  ExpectValues(Parse("1,5;2,5\n1,5;3,5\n"), {{1.5, 2.5}, {1.5, 3.5}});
  // What leaves it open is decided by the other columns, then by the separator.
  ExpectValues(Parse("a;b\n1,234;1,5\n"), {{1.234, 1.5}});
  ExpectValues(Parse("a;b\n1.234;1,5\n"), {{1234, 1.5}});
  ExpectValues(Parse("a;b\n1.234;2\n"), {{1.234, 2}});
  ExpectValues(Parse("a,b\n\"1,234\",2\n"), {{1234, 2}});
  ExpectValues(Parse("a,b\n\"1,234\",2\n", {.decimal = ','}), {{1.234, 2}});
  EXPECT_THAT(Fault("a;b\n1.5;2\n2.5;2\n1,5;2\n"), HasSubstr("line 4, column 'a': '1,5'"));
  EXPECT_THAT(Fault("a,b\n1,2\n1,\"x,5\"\n"), HasSubstr("'x,5' is not a number"));
}

TEST(ReadCsv, RefusesBrokenQuotes) {
  EXPECT_THAT(Fault("a,b\n1,\"2\n3,4\n"), HasSubstr("line 2, column 'b': a quote is never closed"));
  EXPECT_THAT(Fault("a,b\n1,\"2\"3\n"), HasSubstr("text follows the closing quote"));
  EXPECT_THAT(Fault("a,\"b\n1,2\n"),
              HasSubstr("line 1, name of column 2: a quote is never closed"));
}

TEST(ReadCsv, RefusesFilesThatAreNoTables) {
  const TestFolder folder;
  EXPECT_THAT(ErrorOf([&] { ReadTable(folder.Path("none.csv")); }), HasSubstr("No such file"));
  EXPECT_THAT(ErrorOf([&] { ReadTable(folder.Path("")); }), HasSubstr("is a directory"));
  EXPECT_THAT(Fault(""), HasSubstr("t.csv: is empty"));
  EXPECT_THAT(Fault("\n \n"), HasSubstr("is empty"));
  EXPECT_THAT(Fault("\xef\xbb\xbf"), HasSubstr("is empty"));
  EXPECT_THAT(Fault("a,b\n"), HasSubstr("has a header but no rows"));
  EXPECT_THAT(Fault("a,b"), HasSubstr("has a header but no rows"));
  EXPECT_THAT(Fault("\na,b\n1,2\n"), HasSubstr("line 1 is blank"));
  EXPECT_THAT(Fault(std::string_view("a,b\n1,\0\n", 8)), HasSubstr("is not a text file"));
  EXPECT_THAT(Fault("BZh9\x31\x41\x59\x26\x53\x59 rest"), HasSubstr("is compressed in a way"));
  EXPECT_THAT(Fault("PAR1 and the rest PAR1"), HasSubstr("pandas.read_parquet"));
}

TEST(ReadCsv, NamesThatBeginLikeOtherFormatsAreNames) {
  EXPECT_THAT(Parse("BZh9,b\n1,2\n").columns, ElementsAre("BZh9", "b"));
  EXPECT_THAT(Fault("BZh"), HasSubstr("t.csv"));
  EXPECT_THAT(Parse("PAR1,b\n1,2\n").columns, ElementsAre("PAR1", "b"));
}

TEST(ReadCsv, ALaterLineCanChangeWhatAColumnHolds) {
  std::string plain = "x,y\n", text = "x,y\n", empty = "x,y\n";
  for (int n = 0; n < 1500; ++n) {
    plain += std::to_string(n) + ",1\n";
    text += std::to_string(n) + " kg,1\n";
    empty += ",1\n";
  }
  EXPECT_EQ(Parse(plain + "\"1,500\",1\n").values(1500, 0), 1500);
  EXPECT_EQ(Parse(empty + "red,1\n").LevelsOf(0), std::vector<std::string>{"red"});
  EXPECT_EQ(Parse(text + "NA,1\n5 kg,2\n").values(1501, 0), 5);
  EXPECT_THAT(Fault(text + "red,1\n"), HasSubstr("line 1502, column 'x': 'red' is not written as"));
}

TEST(ReadCsv, WordsForMissingCells) {
  const Table table =
      Parse("a,b\n-999,x\n-999.0,none\n.,y\n5,kaputt\n", {.missing = {"-999", "Kaputt"}});
  ExpectValues(table, {{kNaN, 1}, {kNaN, 0}, {kNaN, 2}, {5, kNaN}});
  EXPECT_THAT(table.levels[1], ElementsAre("none", "x", "y"));
  EXPECT_THAT(table.missing, ElementsAre("-999", "Kaputt"));
}

TEST(ReadCsv, RefusesUnusableHeaders) {
  EXPECT_THAT(Fault("a,b,a\n1,2,3\n"), HasSubstr("columns 1 and 3 are both called 'a'"));
}

TEST(ReadCsv, NamesColumnsThatHaveNoName) {
  const Table index = Parse(",b\n1,2\n");
  EXPECT_EQ(index.index_column, "column 1");
  EXPECT_THAT(index.columns, ElementsAre("column 1", "b"));
  const Table other = Parse("a,,c\n1,2,3\n");
  EXPECT_EQ(other.index_column, "");
  EXPECT_THAT(other.columns, ElementsAre("a", "column 2", "c"));
  EXPECT_THAT(Parse("a,,c\n1,2,3\n", {.ignore = {"2"}}).columns, ElementsAre("a", "c"));
  EXPECT_EQ(Parse("gr\xf6sse,b\n1,2\n").columns[0], "gr\u00f6sse");
}

TEST(ReadCsv, SmallFileOfManyColumnsAndLinesNeedsNoHugeMatrix) {
  std::string text = "c0";
  for (int c = 1; c < 30000; ++c) text += ",c" + std::to_string(c);
  text += '\n';
  for (int n = 0; n < 3000000; ++n) text += "1\n";  // as a matrix it would take 720 GB
  EXPECT_THAT(Fault(text), HasSubstr("line 2 has 1 field but the header names 30000 columns"));
}

// Several pieces of a megabyte each.
std::string LargeText(Index rows, std::vector<double>* values) {
  RandomStream stream(9);
  std::string text = "a,b,c\n";
  char digits[32];
  for (Index i = 0; i < 3 * rows; ++i) {
    const double value = stream.Normal() * std::exp(20 * stream.Normal());
    values->push_back(value);
    text.append(digits, std::to_chars(digits, digits + 32, value).ptr);
    text += i % 3 == 2 ? '\n' : ',';
  }
  return text;
}

TEST(ReadCsv, GivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<double> values;
  const TestFolder folder;
  const std::string path = folder.Write("large.csv", LargeText(100000, &values));
  ASSERT_GT(std::filesystem::file_size(path), 5u << 20);
  for (const int threads : {1, 2, 7}) {
    const Table table = ReadTable(path, {.threads = threads});
    ASSERT_EQ(table.values.rows(), 100000);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), table.values.data())) << threads;
  }
}

TEST(ReadCsv, ReportsTheFirstFaultInTheFileForAnyNumberOfThreads) {
  std::vector<double> values;
  std::string text = LargeText(100000, &values);
  // A fault in every piece after the first; the line of the first one is counted here.
  const std::size_t first = text.find('\n', 3 << 19) + 1;
  for (std::size_t at = first; at < text.size(); at = text.find('\n', at + (1 << 19)) + 1) {
    text[at] = 'x';
    if (text.find('\n', at + (1 << 19)) == std::string::npos) break;
  }
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first), '\n');
  const TestFolder folder;
  const std::string path = folder.Write("large.csv", text);
  for (const int threads : {1, 2, 7}) {
    EXPECT_THAT(ErrorOf([&] { ReadTable(path, {.threads = threads}); }),
                HasSubstr("line " + std::to_string(line) + ", column 'a': 'x"));
  }
}

TEST(ReadCsv, ReadsStandardInput) {
  const TestFolder folder;
  const std::string path = folder.Write("in.csv", "a,b\n1,2\n3,x\n");
  const int saved = ::dup(STDIN_FILENO);
  const int file = ::open(path.c_str(), O_RDONLY);
  ::dup2(file, STDIN_FILENO);
  EXPECT_THAT(ErrorOf([] { ReadTable("-"); }), HasSubstr("standard input: line 3, column 'b'"));
  ::lseek(STDIN_FILENO, 0, SEEK_SET);
  const Table table = ReadTable("-", {.ignore = {"b"}});
  ExpectValues(table, {{1}, {3}});
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(file);
}

TEST(ReadCsv, ReadsAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text = "a,b\n1,2\n";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  ExpectValues(ReadTable("/dev/fd/" + std::to_string(ends[0])), {{1, 2}});
  ::close(ends[0]);
}

RC_GTEST_PROP(WriteCsv, ReadsBackAsTheSameBits, ()) {
  const auto rows = *rc::gen::inRange<Index>(1, 6), cols = *rc::gen::inRange<Index>(1, 5);
  Matrix values(rows, cols);
  for (Index i = 0; i < values.size(); ++i) {
    const auto value = std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>());
    values.data()[i] = std::isinf(value) ? 0 : value;
  }
  std::vector<std::string> names;
  for (Index c = 0; c < cols; ++c) names.push_back("x, \"" + std::to_string(c) + "\"");
  std::ostringstream out;
  WriteCsv(out, names, values);
  const Table table = Parse(out.str());
  RC_ASSERT(table.columns == names);
  RC_ASSERT(table.values.rows() == rows);
  for (Index i = 0; i < values.size(); ++i) {
    const double value = values.data()[i], read = table.values.data()[i];
    RC_ASSERT((std::isnan(value) && std::isnan(read)) ||
              std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(read));
  }
}

RC_GTEST_PROP(ReadCsv, EndsWithATableOrAnErrorOnAnyText, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("a,,,\"\"\n\n\r19.-+e;N \t\xe4")));
  try {
    const Table table = Parse("a,b\n" + text);
    RC_ASSERT(table.values.cols() >= 1);
  } catch (const Error& error) {
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  }
}

TEST(WriteCsv, WritesShortestDigits) {
  Matrix values(2, 2);
  values << 0.1, 1e300, kNaN, -3;
  std::ostringstream out;
  WriteCsv(out, {"a", "b,c"}, values);
  EXPECT_EQ(out.str(), "a,\"b,c\"\n0.1,1e+300\nNaN,-3\n");
}

TEST(WriteCsv, ReportsAFailedStream) {
  std::ofstream full("/dev/full");
  EXPECT_THAT(ErrorOf([&] { WriteCsv(full, {"a"}, Matrix::Ones(9, 1)); }),
              HasSubstr("cannot write"));
}

}  // namespace
}  // namespace fathom
