// Everyday tables: 'fathom inspect' proposes a command, which fits a model, which then predicts.
#include "tests/support/everyday_tables.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/program.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

// The words of a command as a shell would cut it; single quotes only.
Arguments Words(const std::string& line) {
  Arguments words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

class EverydayTablesTest : public ProgramTest {
 protected:
  // What the model of the table predicts for its own rows, by the command that inspect proposes.
  std::string PredictionsOf(const std::string& path, const std::string& option) const {
    const Outcome seen = Run({"inspect", path, "--target", "y", "--json"});
    EXPECT_EQ(seen.code, option.empty() ? 0 : 2) << seen.out << seen.err;
    const std::string command = Json::parse(seen.out)["fit"]["command"];
    EXPECT_NE(command.find(option), std::string::npos) << command;
    Arguments words = Words(command);
    words.erase(words.begin());  // fathom
    words.back() = model_;       // of -o
    const Outcome fitted = Run(Join(words, {"--hidden", "0", "--inducing", "5", "--steps", "3"}));
    EXPECT_EQ(fitted.code, 0) << fitted.err;
    const Outcome predicted = Run({"predict", model_, path});
    EXPECT_EQ(predicted.code, 0) << predicted.err;
    return predicted.out;
  }
};

TEST_F(EverydayTablesTest, PredictTheSameAsThePlainNumbers) {
  const std::vector<EverydayTable> tables = EverydayTables();
  EXPECT_GE(tables.size(), 30U);
  for (const EverydayTable& table : tables) {
    SCOPED_TRACE(table.what);
    const std::string plain = PredictionsOf(folder_.Write("plain.csv", table.plain), "");
    EXPECT_EQ(CountLines(plain), 41U) << plain;
    EXPECT_EQ(PredictionsOf(folder_.Write("everyday.csv", table.text), table.option), plain);
  }
}

TEST_F(EverydayTablesTest, AModelReadsNewTablesAsItReadItsOwn) {
  const std::string train = folder_.Write(
      "train.csv",
      "weight;day;y\n3,5 kg;1.2.2024;1\n4,25 kg;13.2.2024;2\n1.000,5 kg;14.3.2024;3\n");
  ASSERT_EQ(Run({"fit", train, "--target", "y", "-o", model_, "--hidden", "0", "--inducing", "3",
                 "--steps", "3"})
                .code,
            0);
  const auto predict = [&](const std::string& text) {
    const Outcome outcome = Run({"predict", model_, folder_.Write("new.csv", text)});
    return outcome.code == 0 ? outcome.out.substr(outcome.out.find('\n')) : outcome.err;
  };
  const std::string known = predict("weight;day\n1.000 kg;1.2.2024\n");
  // The points could be decimal ones and the day a month, but for what the model has learnt.
  EXPECT_EQ(predict("weight;day\n1.000;1.2.2024\n"), known);
  EXPECT_EQ(predict("weight;day\n1000;2024-02-01\n"), known);
  EXPECT_EQ(predict("weight;day\n1000.0;1/2/2024\n"), known);
  EXPECT_NE(predict("weight;day\n1.000 g;1.2.2024\n").find("'1.000 g' is not written as"),
            std::string::npos);
}

TEST_F(EverydayTablesTest, DatesCanBeLeftOut) {
  const std::string table =
      folder_.Write("t.csv", "day,x,y\n2024-01-01,1,2\n2024-01-05,2,3\n2024-02-01,4,3\n");
  const Outcome outcome = Run({"inspect", table, "--target", "y", "--dates", "ignore", "--json"});
  EXPECT_EQ(Json::parse(outcome.out)["fit"]["inputs"], Json({"x"}));
}

TEST_F(EverydayTablesTest, KeepsColumnsBesideThePredictions) {
  ASSERT_EQ(Run(FitArguments(train_, model_)).code, 0);
  const std::string table = folder_.Write(
      "new.csv", "id,a,b,c,d,y,note\nk1,1,100,0,100,high,\"a, b\"\nk2,2,101,0,99,5,\n");
  const std::string plain = Good({"predict", model_, table});
  EXPECT_TRUE(plain.starts_with("mean,std,q025,q975,log_density,outside\n")) << plain;
  const std::string kept = Good({"predict", model_, table, "--keep", "id,note"});
  EXPECT_TRUE(kept.starts_with("id,note,mean,std,q025,q975,log_density,outside\nk1,\"a, b\","))
      << kept;
  const std::string all = Good({"predict", model_, table, "--keep", "all"});
  EXPECT_TRUE(all.starts_with("id,a,b,c,d,y,note,mean,")) << all;
  EXPECT_EQ(CountLines(all), 3U);
  EXPECT_EQ(Good({"predict", model_, table, "--keep", "all", "--chunk", "1"}), all);
  EXPECT_EQ(Good({"predict", model_, "-", "--keep", "all"}, TestFolder::Read(table)), all);
  Bad({"predict", model_, table, "--keep", "nothing"}, "there is no column 'nothing'");
}

TEST_F(EverydayTablesTest, InspectShowsAllProblemsAtOnce) {
  const std::string table = folder_.Write(
      "bad.csv", "a,b,y\n1,2,3\nred,5,6\nblue,x,7\n4,7,8\n5,8,9\n7,9,tall\n8,10,11\n");
  const Outcome outcome = Run({"inspect", table, "--target", "y"});
  EXPECT_EQ(outcome.code, 2);
  for (const char* told : {"column 'a': 2 cells are no number (first in line 3): 'red', 'blue'",
                           "column 'b': 1 cell is no number (first in line 4): 'x'",
                           "column 'y': 1 cell is no number (first in line 7): 'tall'",
                           "--missing blue --missing red --missing tall --missing x"})
    EXPECT_NE(outcome.out.find(told), std::string::npos) << told << "\n" << outcome.out;
  const std::string ragged = folder_.Write("ragged.csv", "a,y\n1,2\n3\n4,5,6\n7\n");
  const Outcome lines = Run({"inspect", ragged, "--target", "y"});
  EXPECT_EQ(lines.code, 2);
  for (const char* told : {"2 lines are of 1 cell where there are 2 columns (first in line 3)",
                           "1 line is one of 3 cells where there are 2 columns (first in line 4)"})
    EXPECT_NE(lines.out.find(told), std::string::npos) << told << "\n" << lines.out;
}

TEST_F(EverydayTablesTest, OnlyTheRatiosOfWeightsCount) {
  const auto fit = [&](const std::string& weights, const Arguments& more = {}) {
    std::string text = "x,w,y\n";
    for (int n = 0; n < 20; ++n) {
      text += std::to_string(n * 7 % 11) + "," + (n % 2 == 0 ? weights : "0.25") + "," +
              std::to_string(n * 3 % 5) + "\n";
    }
    const std::string table = folder_.Write("w.csv", text);
    const Outcome outcome = Run(Join({"fit", table, "--target", "y", "--weights", "w", "-o", model_,
                                      "--hidden", "0", "--inducing", "5", "--steps", "20"},
                                     more));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Good({"predict", model_, table});
  };
  const std::string half = fit("0.25");
  EXPECT_NE(fit("0.25", {"--counts"}), half);
  std::string ones = "x,y\n";
  for (int n = 0; n < 20; ++n)
    ones += std::to_string(n * 7 % 11) + "," + std::to_string(n * 3 % 5) + "\n";
  const std::string table = folder_.Write("ones.csv", ones);
  ASSERT_EQ(Run({"fit", table, "--target", "y", "-o", model_, "--hidden", "0", "--inducing", "5",
                 "--steps", "20"})
                .code,
            0);
  EXPECT_EQ(Good({"predict", model_, table}), half) << "equal weights are none";
  EXPECT_NE(fit("1"), half);
}

}  // namespace
}  // namespace fathom
