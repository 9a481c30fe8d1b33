// How the program reads tables and what it makes of their columns.
#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "fathom/base/random.h"
#include "tests/support/program.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

class CliData : public ProgramTest {
 protected:
  std::string Fit(const std::string& train, const Arguments& more = {}) const {
    return FitTarget("y", train, more);
  }
  std::string FitTarget(const std::string& target, const std::string& train,
                        const Arguments& more) const {
    Arguments arguments = {"fit",     train, "--target",   target, "-o",        model_, "--json",
                           "--steps", "30",  "--inducing", "10",   "--warm-up", "10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }
  std::string Predict(const std::string& test, const Arguments& more = {}) const {
    Arguments arguments = {"predict", model_, test};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Good(arguments);
  }
};

// y depends on a number and on a colour.
std::string Coloured(char separator, Index rows = 60) {
  RandomStream stream(5);
  std::ostringstream out;
  const std::vector<std::string> colours = {"red", "green", "blue"};
  out << "a" << separator << "colour" << separator << "y\n";
  for (Index n = 0; n < rows; ++n) {
    const double a = stream.Normal();
    const auto colour = static_cast<std::size_t>(stream.Below(3));
    out << a << separator << colours[colour] << separator << a + 3 * static_cast<double>(colour)
        << "\n";
  }
  return out.str();
}

TEST_F(CliData, EveryFormGivesTheSameModel) {
  Fit(folder_.Write("comma.csv", Coloured(',')));
  const std::string expected = Predict(File("comma.csv"));
  for (const char separator : {';', '\t', '|'}) {
    Fit(folder_.Write("other.csv", Coloured(separator)));
    EXPECT_EQ(Predict(File("comma.csv")), expected) << separator;
    EXPECT_EQ(Predict(File("other.csv")), expected) << separator;
  }
  const std::string text = Coloured(',');
  const gzFile packed = ::gzopen(File("packed").c_str(), "wb");
  ASSERT_GT(::gzwrite(packed, text.data(), static_cast<unsigned>(text.size())), 0);
  ::gzclose(packed);
  Fit(File("packed"));
  EXPECT_EQ(Predict(File("packed")), expected);
  EXPECT_EQ(Good({"predict", model_, "-"}, TestFolder::Read(File("packed"))), expected);
}

TEST_F(CliData, ColumnsAreFoundByNameInAnyOrder) {
  Fit(folder_.Write("train.csv", Coloured(',')));
  const std::string expected = Predict(folder_.Write("test.csv", "a,colour\n1,red\n2,blue\n"));
  EXPECT_EQ(Predict(folder_.Write("turned.csv", "colour,id,a\nred,7,1\nblue,8,2\n")), expected);
  Bad({"predict", model_, folder_.Write("less.csv", "a,Colour\n1,red\n")},
      "there is no column 'colour'");
  Bad({"predict", model_, folder_.Write("plain.csv", "1,2\n3,4\n")}, "has no header row");
}

TEST_F(CliData, UnseenLevelsCountAsMissingWithANote) {
  Fit(folder_.Write("train.csv", Coloured(',')));
  const Outcome outcome =
      Run({"predict", model_, folder_.Write("test.csv", "a,colour\n1,mauve\n1,\n")});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("note: " + File("test.csv") + ": column 'colour': 1 cell holds"),
            std::string::npos)
      << outcome.err;
  std::istringstream lines(outcome.out);
  std::string header, mauve, missing;
  std::getline(lines, header);
  std::getline(lines, mauve);
  std::getline(lines, missing);
  EXPECT_EQ(mauve, missing);
}

TEST_F(CliData, NotesStandInTheJson) {
  const std::string train =
      folder_.Write("train.csv", "a,same,again,w,y\n1,7,1,1,2\n2,7,2,0,3\n4,7,4,1,5\n3,7,3,1,\n");
  const Json summary = Json::parse(Fit(train, {"--weights", "w"}));
  std::vector<std::string> kinds;
  for (const Json& note : summary["notes"]) kinds.push_back(note["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"constant_columns", "duplicate_columns",
                                             "rows_without_target", "rows_of_weight_zero"}));
  EXPECT_EQ(summary["dropped_rows"], 2);
  EXPECT_EQ(summary["inputs"], Json({"a"}));
}

TEST_F(CliData, FilesWithoutNames) {
  std::string rows;
  for (int n = 0; n < 20; ++n)
    rows +=
        std::to_string(n * n % 7) + "," + std::to_string(n) + "," + std::to_string(n % 3) + "\n";
  const std::string train = folder_.Write("train.csv", rows);
  // The target is the first column; by their number the inputs are found with and without it.
  const Json summary = Json::parse(FitTarget("1", train, {"--categorical", "3"}));
  EXPECT_EQ(summary["inputs"], Json({"x2", "x3=0", "x3=1", "x3=2"}));
  const std::string with = Predict(folder_.Write("with.csv", "9,5,2\n"), {"--latent"});
  EXPECT_EQ(Predict(folder_.Write("without.csv", "5,2\n"), {"--latent"}), with);
  Bad({"predict", model_, folder_.Write("wrong.csv", "5,2,1,1\n")},
      "has 4 columns without names where 3 or 2 are expected");
}

TEST_F(CliData, InputDeviationsWidenPredictions) {
  const std::string train = folder_.Write("train.csv", Coloured(','));
  Fit(train, {"--steps", "300"});
  const std::string exact = Predict(train);
  EXPECT_EQ(Predict(train, {"--input-std", "a=0"}), exact);
  const std::string noisy = Predict(train, {"--input-std", "a=0.5"});
  EXPECT_NE(noisy, exact);
  std::string cells = "a\n";
  for (int n = 0; n < 60; ++n) cells += "0.5\n";
  EXPECT_EQ(Predict(train, {"--input-std", folder_.Write("std.csv", cells)}), noisy);
  Bad({"predict", model_, train, "--input-std", "b=1"}, "there is no input column 'b'");
  Bad({"predict", model_, train, "--input-std", "a=-1"}, "is no standard deviation");
  Bad({"predict", model_, train, "--input-std", folder_.Write("few.csv", "a\n1\n")},
      "has 1 rows of standard deviations for 60 rows");
  const Json trained = Json::parse(Fit(train, {"--input-std", "a=0.5"}));
  EXPECT_NE(trained["energy_per_row"], Json::parse(Fit(train))["energy_per_row"]);
}

TEST_F(CliData, BadColumns) {
  const auto bad = [&](const std::string& text, const std::string& word, const Arguments& more) {
    Arguments arguments = {"fit", folder_.Write("bad.csv", text), "--target", "y", "-o", model_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Bad(arguments, word);
  };
  bad("x,y\n1,2024-01-01\n2,2024-01-02\n", "a target but holds dates", {});
  bad("a,y\n1,2\n2,3\n", "cannot stand between cells", {"--separator", "ab"});
  bad("a,y\n1,2\n2,3\n", "did you mean 'a'", {"--categorical", "A"});
  bad("a;y\n1,5;2\n2,5;3\n", "line 2, column 'a': '1,5' has a comma", {"--decimal", "point"});
  bad("a,w,y\n1,-1,2\n2,1,3\n", "row 1, column 'w': the weight is negative", {"--weights", "w"});
  bad("a,y\n1,low\n2,high\n", "line 2, column 'y': 'low' is not a number", {"--task", "regress"});
  bad("\x1f\x8b\x08rubbish", "gzip data are", {});
  bad("\x93NUMPY\x01", "NPY file is cut off", {});
}

}  // namespace
}  // namespace fathom
