// Runs the built program as a user would.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "fathom/base/random.h"
#include "fathom/data/read_table.h"
#include "fathom/fitted/model.h"
#include "tests/support/changed_model.h"
#include "tests/support/places.h"
#include "tests/support/program.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using Cli = ProgramTest;

TEST_F(Cli, VersionAndHelp) {
  EXPECT_TRUE(Good({"--version"}).starts_with("fathom "));
  const std::string help = Good({"--help"});
  for (const std::string command :
       {"fit", "resume", "predict", "evaluate", "report", "inspect", "export", "recipe", "demo"}) {
    EXPECT_NE(help.find("\n  " + command + " "), std::string::npos) << command;
    const std::string own = Good({command, "--help"});
    EXPECT_NE(own.find("Usage: fathom " + command), std::string::npos) << own;
    EXPECT_NE(own.find("Example"), std::string::npos) << own;
  }
  const std::string steps = "--steps N=" + nlohmann::json(Recipe().optimizer.steps).dump();
  EXPECT_NE(Good({"fit", "--help"}).find(steps), std::string::npos);
}

TEST_F(Cli, EveryOptionOfFitIsExplained) {
  const std::string page = TestFolder::Read(SourceFile("docs/reference/fit.md"));
  std::istringstream help(Good({"fit", "--help"}));
  int options = 0;
  for (std::string line; std::getline(help, line);) {
    // "  -o,--output MODEL" has two names, and "  --x,--no-x{false}" its opposite.
    const std::size_t begin = line.find("--");
    if (!line.starts_with("  -") || begin == std::string::npos) continue;
    const std::size_t end = line.find_first_of(" ,", begin);
    const std::string option = line.substr(begin, end - begin);
    if (option == "--help") continue;
    ++options;
    const bool opposite = page.find("--no-" + option.substr(2)) != std::string::npos;
    EXPECT_TRUE(opposite || page.find('`' + option) != std::string::npos) << option;
  }
  EXPECT_GT(options, 40);
}

TEST_F(Cli, FitPredictEvaluate) {
  const std::string summary = Good(FitArguments(train_, model_, {"--steps", "400"}));
  EXPECT_NE(summary.find("rows        80\n"), std::string::npos) << summary;
  EXPECT_NE(summary.find("4 inputs"), std::string::npos) << summary;

  std::istringstream predictions(Good({"predict", model_, test_}));
  std::string header;
  std::getline(predictions, header);
  EXPECT_EQ(header, "mean,std,q025,q975,log_density,outside");
  const std::string path = folder_.Write("predictions.csv", Good({"predict", model_, test_}));
  const Matrix predicted = ReadTable(path).values;
  const Matrix truth = ReadTable(test_).values;
  ASSERT_EQ(predicted.rows(), 50);
  EXPECT_TRUE((predicted.col(1).array() > 0).all());
  EXPECT_TRUE((predicted.col(2).array() < predicted.col(0).array()).all());
  EXPECT_TRUE((predicted.col(3).array() > predicted.col(0).array()).all());

  const auto scores = nlohmann::json::parse(Good({"evaluate", model_, test_, "--json"}));
  const double rmse = std::sqrt((predicted.col(0) - truth.col(4)).array().square().mean());
  EXPECT_NEAR(scores["rmse"], rmse, 1e-9 * rmse);
  EXPECT_NEAR(scores["mean_log_likelihood"], predicted.col(4).mean(), 1e-9);
  const double spread = std::sqrt(truth.col(4).array().square().mean());
  EXPECT_LT(rmse, spread);
  EXPECT_EQ(scores["rows"], 50);
  for (const char* key : {"crps", "coverage_95", "mae", "coverage_50", "coverage_90",
                          "calibration_error", "sharpness", "interval_score_95"}) {
    EXPECT_TRUE(scores[key].is_number()) << key;
  }
  EXPECT_EQ(scores["notes"], nlohmann::json::array());
  EXPECT_EQ(CountLines(Good({"evaluate", model_, test_})), scores.size() - 1);
}

TEST_F(Cli, PredictionsComeInAnyShapeTheSame) {
  Good(FitArguments(train_, model_));
  for (const char* samples : {"0", "5"}) {
    const Arguments predict = {"predict", model_, test_, "--samples", samples};
    const auto with = [&](Arguments more) {
      more.insert(more.begin(), predict.begin(), predict.end());
      return Good(more);
    };
    const std::string expected = with({});
    EXPECT_EQ(with({"--chunk", "1"}), expected);
    EXPECT_EQ(with({"--chunk", "17", "--threads", "1"}), expected);
    EXPECT_EQ(with({"-o", File("p.csv")}), "");
    EXPECT_EQ(TestFolder::Read(File("p.csv")), expected);
    EXPECT_EQ(Good({"predict", model_, "-", "--samples", samples}, Csv(50, 2)), expected);
  }
}

TEST_F(Cli, ScoresAreTheSameForAnyChunk) {
  Good(FitArguments(train_, model_));
  folder_.Write("test.csv", Csv(30, 2) + "1,2,3,4,\n" + "1,2,3,4,5\n");
  for (const char* samples : {"0", "300"}) {
    const Arguments evaluate = {"evaluate", model_, test_, "--json", "--samples", samples};
    const std::string expected = Good(evaluate);
    EXPECT_EQ(nlohmann::json::parse(expected)["rows"], 31);
    EXPECT_EQ(Good(Join(evaluate, {"--chunk", "1"})), expected);
    EXPECT_EQ(Good(Join(evaluate, {"--chunk", "7", "--threads", "1"})), expected);
  }
  Bad({"evaluate", model_, test_, "--chunk", "0"}, "--chunk");
}

TEST_F(Cli, PredictionsAsJsonAreThoseOfTheTable) {
  Good(FitArguments(train_, model_));
  folder_.Write("test.csv", Csv(30, 2) + "1,2,,4,\n");  // no target: no density
  const Matrix csv = ReadTable(folder_.Write("p.csv", Good({"predict", model_, test_}))).values;
  const std::string text = Good({"predict", model_, test_, "--json"});
  EXPECT_EQ(Good({"predict", model_, test_, "--json", "--chunk", "7"}), text);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["targets"], nlohmann::json({"y"}));
  ASSERT_EQ(json["notes"].size(), 1U);
  EXPECT_EQ(json["notes"][0]["kind"], "rows_outside");
  ASSERT_EQ(json["predictions"].size(), 31U);
  const std::vector<std::string> keys = {"mean", "std", "q025", "q975", "log_density"};
  for (Index n = 0; n < 30; ++n) {
    EXPECT_EQ(json["predictions"][n]["row"], n + 1);
    for (std::size_t c = 0; c < keys.size(); ++c)
      EXPECT_EQ(json["predictions"][n][keys[c]], csv(n, static_cast<Index>(c)));
  }
  EXPECT_EQ(json["predictions"][30]["log_density"], "NaN");
  EXPECT_TRUE(json["predictions"][30]["mean"].is_number());
}

TEST_F(Cli, QuantilesAndLatent) {
  Good(FitArguments(train_, model_));
  const std::string out =
      Good({"predict", model_, test_, "--quantiles", "0.5,0.1,0.001", "--latent"});
  EXPECT_TRUE(out.starts_with("mean,std,q50,q10,q001,outside\n")) << out;
  const Matrix latent = ReadTable(folder_.Write("latent.csv", out)).values;
  const Matrix plain = ReadTable(folder_.Write("y.csv", Good({"predict", model_, test_}))).values;
  EXPECT_TRUE((latent.col(1).array() < plain.col(1).array()).all());
}

// A row beyond the training rows is counted in a note and marked in the last column.
TEST_F(Cli, MarksRowsOutside) {
  Good(FitArguments(train_, model_));
  const Outcome inside = Run({"predict", model_, train_});
  EXPECT_EQ(inside.err.find("beyond the training rows"), std::string::npos) << inside.err;
  const std::string table =
      folder_.Write("far.csv", "a,b,c,d\n1,100,0,100\n1e6,100,0,-1e6\n,100,0,100\n");
  const Outcome outcome = Run({"predict", model_, table});
  EXPECT_NE(outcome.err.find("1 of 3 rows lies beyond the training rows in 'a', 'd'"),
            std::string::npos)
      << outcome.err;
  const auto json = nlohmann::json::parse(Run({"predict", model_, table, "--json"}).out);
  EXPECT_EQ(json["notes"][0]["kind"], "rows_outside");
  EXPECT_EQ(json["notes"][0]["count"], 1);
  EXPECT_EQ(json["predictions"][1]["outside"], 2);
  EXPECT_EQ(json["predictions"][2]["outside"], 0);
}

TEST_F(Cli, SeveralTargetsAndIgnoredColumns) {
  for (const Arguments& targets : {Arguments{"--target", "a"}, Arguments{"--target", "a,d"}}) {
    Arguments arguments = FitArguments(train_, model_, {"--ignore", "c", "--json"});
    arguments.insert(arguments.end(), targets.begin(), targets.end());
    const auto summary = nlohmann::json::parse(Good(arguments));
    const bool two = targets[1] == "a";
    EXPECT_EQ(summary["targets"].size(), two ? 2U : 3U);
    EXPECT_EQ(summary["inputs"].size(), two ? 2U : 1U);
    EXPECT_GT(summary["noise_std"]["y"], 0);
    EXPECT_EQ(summary["reason"], "finished");
    EXPECT_TRUE(Good({"predict", model_, test_}).starts_with("y_mean,y_std,y_q025,y_q975,a_mean,"));
  }
}

TEST_F(Cli, AnEnsembleIsReportedWithItsSharesAndItsCheck) {
  const auto report = nlohmann::json::parse(
      Good(FitArguments(train_, model_, {"--stack", "always", "--hidden", "2", "--json"})));
  const auto& stack = report["stack"];
  ASSERT_GE(stack.size(), 2U);
  double shares = 0;
  for (const auto& member : stack) shares += member["share"].get<double>();
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_EQ(report["left_out"]["rows"], report["rows"]);
  EXPECT_GT(report["left_out"]["coverage_95"], 0.85);
  const std::string text = Good({"inspect", model_});
  EXPECT_NE(text.find("rows left out in turn: the 95 % interval covers"), std::string::npos);
  EXPECT_NE(text.find("stack       "), std::string::npos);
}

TEST_F(Cli, SameSeedSameBytesForAnyNumberOfThreads) {
  // The model file also records seconds and threads, so predictions are compared.
  const auto predictions_of = [&](const char* threads, const char* seed) {
    Good(FitArguments(train_, model_, {"--threads", threads, "--seed", seed}));
    return Good({"predict", model_, test_});
  };
  const std::string expected = predictions_of("1", "3");
  EXPECT_EQ(predictions_of("2", "3"), expected);
  EXPECT_EQ(predictions_of("1", "3"), expected);
  EXPECT_NE(predictions_of("1", "4"), expected);
}

TEST_F(Cli, EveryWayToBuildAModelWorks) {
  const std::vector<Arguments> variants = {
      {"--hidden", "0"},
      {"--hidden", "2,2", "--inducing", "9,8,7"},
      {"--linear-mean", "--skip-links", "--shared"},
      {"--form", "sites"},
      {"--start", "paper"},
      {"--kernel", "linear_ard"},
      {"--kernel", "spectral_mixture:3"},
      {"--alpha", "0"},
      {"--alpha", "1", "--noise-floor", "1e-3"},
      {"--time-budget", "1h", "--patience", "0", "--batch", "16", "--learning-rate", "0.01"}};
  for (const Arguments& variant : variants) {
    Good(FitArguments(train_, model_, variant));
    EXPECT_EQ(CountLines(Good({"predict", model_, test_})), 51U) << variant[0];
  }
}

TEST_F(Cli, OddTablesWork) {
  folder_.Write("missing.csv", "a,b,y\n1,,2\n,NA,3\n4,5,\n6,7,8\n");
  const Outcome fitted = Run(FitArguments(File("missing.csv"), model_));
  EXPECT_NE(fitted.out.find("rows        3 (1 skipped)"), std::string::npos) << fitted.out;
  EXPECT_EQ(fitted.err,
            "fathom: note: " + File("missing.csv") + ": skipped 1 row without a target\n");
  EXPECT_EQ(CountLines(Good({"predict", model_, File("missing.csv")})), 5U);
  EXPECT_EQ(
      nlohmann::json::parse(Good({"evaluate", model_, File("missing.csv"), "--json"}))["rows"], 3);

  std::ostringstream wide;
  for (int c = 0; c < 30; ++c) wide << "x" << c << ",";
  wide << "y\n";
  RandomStream stream(3);
  for (int n = 0; n < 5; ++n) {
    for (int c = 0; c < 30; ++c) wide << stream.Normal() << ",";
    wide << stream.Normal() << "\n";
  }
  folder_.Write("wide.csv", wide.str());
  Good(FitArguments(File("wide.csv"), model_));
  EXPECT_EQ(CountLines(Good({"predict", model_, File("wide.csv")})), 6U);

  Bad(FitArguments(folder_.Write("one.csv", "x,y\n1,2\n"), model_),
      "the input columns have no two different values");

  // A target that is always the same.
  folder_.Write("flat.csv", "x,y\n1,2\n2,2\n3,2\n");
  const Outcome flat = Run(FitArguments(File("flat.csv"), model_));
  EXPECT_EQ(flat.code, 0);
  EXPECT_NE(flat.err.find("flat.csv: target 'y': the same value in all rows"), std::string::npos);
  EXPECT_EQ(CountLines(Good({"predict", model_, File("flat.csv")})), 4U);
}

TEST_F(Cli, ClosedPipeEndsQuietly) {
  Good(FitArguments(train_, model_));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const int err = ::open(File("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  EXPECT_EQ(ExitCode(StartProgram({"predict", model_, train_}, {.out = ends[1], .err = err})), 0);
  ::close(ends[1]);
  ::close(err);
  EXPECT_EQ(TestFolder::Read(File("stderr")), "");

  const int full = ::open("/dev/full", O_WRONLY);
  const int err_again = ::open(File("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  EXPECT_EQ(ExitCode(StartProgram({"predict", model_, train_}, {.out = full, .err = err_again})),
            2);
  ::close(full);
  ::close(err_again);
  EXPECT_EQ(CountLines(TestFolder::Read(File("stderr"))), 1U);
}

// A terminal as standard error shows the progress bar, by which the test knows that the training is
// under way.
TEST_F(Cli, InterruptedFitSavesTheModel) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(terminal, 0);
    ASSERT_EQ(::grantpt(terminal), 0);
    ASSERT_EQ(::unlockpt(terminal), 0);
    const int err = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
    ASSERT_GE(err, 0);
    const int out = ::open(File("stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const Arguments endless =
        FitArguments(train_, model_, {"--steps", "1000000000", "--patience", "0"});
    const pid_t child = StartProgram(endless, {.out = out, .err = err});
    ::close(err);  // so that reading ends if the program does
    std::string shown;
    const auto read_more = [&] {
      char buffer[4096];
      const ssize_t count = ::read(terminal, buffer, sizeof(buffer));
      if (count > 0) shown.append(buffer, static_cast<std::size_t>(count));
      return count > 0;
    };
    while (shown.find("steps/s") == std::string::npos && read_more()) {
    }
    EXPECT_NE(shown.find("energy/row"), std::string::npos) << shown;
    ::kill(child, signal);
    EXPECT_EQ(ExitCode(child), 128 + signal);
    while (read_more()) {
    }
    ::close(terminal);
    ::close(out);
    EXPECT_NE(shown.find("fathom: interrupted after step"), std::string::npos) << shown;
    EXPECT_NE(TestFolder::Read(File("stdout")).find("interrupted"), std::string::npos);
    EXPECT_EQ(LoadModel(model_).summary().reason, StopReason::kInterrupted);
    EXPECT_EQ(CountLines(Good({"predict", model_, test_})), 51U);
    std::filesystem::remove(model_);
  }
}

}  // namespace
}  // namespace fathom
