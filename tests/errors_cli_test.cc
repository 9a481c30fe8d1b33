// Runs the built program with bad tables, options, models and outputs: one line says what is wrong,
// and no file is lost. bad_inputs_cli_test.cc compares the messages word for word.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fathom/base/random.h"
#include "fathom/fitted/model.h"
#include "tests/support/changed_model.h"
#include "tests/support/program.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using ErrorsCli = ProgramTest;

TEST_F(ErrorsCli, BadTables) {
  const auto refuse = [&](const std::string& content, const std::string& word) {
    Bad(FitArguments(folder_.Write("bad.csv", content), model_), word);
  };
  Bad(FitArguments(File("nowhere.csv"), model_), "nowhere.csv");
  Bad(FitArguments(folder_.Path(""), model_), "directory");
  refuse("", "empty");
  refuse("x,y\n", "bad.csv");
  refuse("x,y\n1,2\n3\n", "line 3");
  refuse("x,y\n1,2\nred,4\n", "'red'");
  refuse("y\n1\n2\n", "input");
  refuse("x,z\n1,2\n", "'y'");
  refuse("x,y\n1,\n2,\n", "'y'");
  refuse("x,y\n1,inf\n", "bad.csv");
  refuse(std::string("x,y\n1,\0\n", 8), "bad.csv");
  EXPECT_FALSE(std::filesystem::exists(model_));
}

TEST_F(ErrorsCli, BadOptions) {
  Bad({}, "fathom --help");
  Bad({"fitt"}, "'fitt'");
  Bad({"--nonsense"}, "--help");
  Bad({"fit"}, "fathom fit --help");
  Bad({"fit", train_, "--target", "y"}, "--output");
  Bad({"fit", train_, "-o", model_}, "--target");
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"--alpha", "2"}, "--alpha: must be from 0 to 1, not 2"},
      {{"--alpha", "x"}, "--alpha"},
      {{"--hidden", "2,x"}, "--hidden"},
      {{"--hidden", "0,2"}, "--hidden: must be from 1 to 1000, not 0"},
      {{"--hidden", "-1"}, "hidden"},
      {{"--inducing", "0"}, "inducing"},
      {{"--inducing", "5,5,5,5"}, "inducing"},
      {{"--kernel", "rbf"}, "linear_ard"},
      {{"--kernel", "spectral_mixture:0"}, "components"},
      {{"--steps", "-1"}, "steps"},
      {{"--steps", "1.5"}, "--steps"},
      {{"--batch", "0"}, "batch"},
      {{"--learning-rate", "0"}, "--learning-rate: must be positive"},
      {{"--learning-rate", "nan"}, "--learning-rate"},
      {{"--noise-floor", "-1"}, "--noise-floor"},
      {{"--warm-up", "-1"}, "warm-up"},
      {{"--patience", "-1"}, "patience"},
      {{"--seed", "-1"}, "--seed"},
      {{"--threads", "-2"}, "--threads"},
      {{"--threads", "99999"}, "--threads"},
      {{"--time-budget", "soon"}, "--time-budget"},
      {{"--time-budget", "-5s"}, "--time-budget"},
      {{"--start", "warm"}, "--start"},
      {{"--form", "sites", "--start", "principal"}, "start"},
      {{"--ignore", "nothing"}, "nothing"},
      {{"--target", "y"}, "twice"},
      {{"--target", "multi\nline"}, "multi"},
      {{"--nonsense"}, "'--nonsense'"},
      {{"second.csv"}, "'second.csv'"}};
  for (const auto& [more, word] : cases) Bad(FitArguments(train_, model_, more), word);
  EXPECT_FALSE(std::filesystem::exists(model_));
}

TEST_F(ErrorsCli, OutputsThatCannotBeWritten) {
  Bad(FitArguments(train_, File("no/such/folder/m")), "no/such/folder");
  Bad(FitArguments(train_, folder_.Path("")), "directory");
  Bad(FitArguments(train_, "/dev/null"), "/dev/null");
  Bad(FitArguments(train_, "-"), "standard output");
  Bad(FitArguments(train_, train_), "train.csv");
  EXPECT_EQ(TestFolder::Read(train_), Csv(80, 1));
  Good(FitArguments(train_, model_));
  Bad({"predict", model_, test_, "-o", File("no/such/folder/p")}, "no/such/folder");
  Bad({"predict", model_, test_, "-o", model_}, "overwritten");
  Bad({"predict", model_, test_, "-o", test_}, "overwritten");
  Bad({"demo", "--output", train_}, "train.csv");
}

TEST_F(ErrorsCli, FailedFitLosesNothing) {
  folder_.Write("model.fathom", "precious");
  folder_.Write("bad.csv", "x,y\n1,2\nred,4\n");
  Bad(FitArguments(File("bad.csv"), model_), "red");
  Bad(FitArguments(train_, model_, {"--alpha", "7"}), "alpha");
  EXPECT_EQ(TestFolder::Read(model_), "precious");
}

TEST_F(ErrorsCli, BadModelsAndColumns) {
  Good(FitArguments(train_, model_));
  const std::string bytes = TestFolder::Read(model_);
  std::string noise;
  RandomStream stream(8);
  for (int i = 0; i < 3000; ++i) noise.push_back(static_cast<char>(stream.Below(256)));
  const std::string broken = File("broken.fathom");
  for (const std::string& content : {std::string(), bytes.substr(0, 7), bytes.substr(0, 900),
                                     bytes.substr(0, bytes.size() - 8), noise}) {
    folder_.Write("broken.fathom", content);
    Bad({"predict", broken, test_}, "broken.fathom");
    Bad({"evaluate", broken, test_}, "broken.fathom");
  }
  Bad({"predict", File("nowhere.fathom"), test_}, "nowhere.fathom");
  Bad({"predict", train_, test_}, "train.csv");
  Bad({"predict", model_, model_}, "model.fathom");
  Bad({"predict", model_, folder_.Write("other.csv", "a,b\n1,2\n")}, "'c', 'd'");
  Bad({"predict", model_, folder_.Write("none.csv", "q\n1\n")}, "none.csv");
  Bad({"predict", model_, folder_.Write("header.csv", "a,b,c,d\n")}, "header.csv");
  Bad({"predict", model_, test_, "--quantiles", "0.5,1"}, "--quantiles");
  Bad({"predict", model_, test_, "--quantiles", "0.5,0.5"}, "twice");
  Bad({"predict", model_, test_, "--samples", "-1"}, "--samples");
  Bad({"predict", model_, test_, "--chunk", "0"}, "--chunk");
  folder_.Write("inputs.csv", "a,b,c,d\n1,2,7,2\n");
  EXPECT_EQ(CountLines(Good({"predict", model_, File("inputs.csv")})), 2U);
  Bad({"evaluate", model_, File("inputs.csv")}, "'y'");
  Bad({"evaluate", model_, folder_.Write("unknown.csv", "a,b,c,d,y\n1,2,7,2,NA\n")}, "");
}

TEST_F(ErrorsCli, NumericalFailureIsExit3) {
  Good(FitArguments(train_, model_));
  const auto overflow = [](DeepGp* network) {
    std::get<Whitened>(network->layers.back().gps[0].posterior).mu.setConstant(1e308);
  };
  SaveModel(WithNetwork(LoadModel(model_), overflow), model_);
  const std::vector<Arguments> commands = {{"predict", model_, train_, "-o", File("p.csv")},
                                           {"evaluate", model_, train_},
                                           {"report", model_, train_, "-o", File("p.csv")}};
  for (const Arguments& command : commands) {
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(CountLines(outcome.err), 1U) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("fathom: ")) << outcome.err;
  }
  EXPECT_FALSE(std::filesystem::exists(File("p.csv")));
}

}  // namespace
}  // namespace fathom
