// Counts, outliers and noise that changes, from the command line.
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "fathom/data/read_table.h"
#include "tests/support/program.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

double DrawCount(double rate, RandomStream* stream) {
  double count = 0;
  for (double left = -std::log(stream->Uniform()); left < rate; left -= std::log(stream->Uniform()))
    ++count;
  return count;
}

double Count(double x, RandomStream* stream) {
  return DrawCount(std::exp(0.5 + 1.5 * std::sin(2 * x)), stream);
}

double WithOutliers(double x, RandomStream* stream) {
  const double wild = stream->Uniform() < 0.1 ? 30 * stream->Normal() : 0;
  return 50 + 10 * std::sin(2 * x) + stream->Normal() + wild;
}

// Noise from 0.1 at the left end to 5 at the right one.
double Widening(double x, RandomStream* stream) {
  return 10 * std::sin(x) + 0.1 * std::exp(x + 2) * stream->Normal();
}

class LikelihoodTest : public ProgramTest {
 protected:
  std::string Table(const std::string& name, Index rows, std::uint64_t seed,
                    double (*target)(double, RandomStream*)) const {
    RandomStream stream(seed);
    std::ostringstream out;
    out << "x,y\n";
    for (Index n = 0; n < rows; ++n) {
      const double x = 4 * stream.Uniform() - 2;
      out << x << "," << target(x, &stream) << "\n";
    }
    return folder_.Write(name, out.str());
  }
  void Fit(const std::string& table, const Arguments& more) const {
    Good(Join({"fit", table, "--target", "y", "-o", model_, "--steps", "300", "--hidden", "0",
               "--inducing", "15", "--learning-rate", "0.03"},
              more));
  }
  Json Evaluate(const std::string& table, const Arguments& more = {}) const {
    return Json::parse(Good(Join({"evaluate", model_, table, "--json"}, more)));
  }
  // Log likelihood of new rows with a likelihood, less that with the Gaussian.
  double Gain(double (*target)(double, RandomStream*), const std::string& likelihood) const {
    const std::string train = Table("train.csv", 200, 1, target);
    const std::string test = Table("test.csv", 200, 2, target);
    Fit(train, {"--likelihood", "gaussian"});
    const double gaussian = Evaluate(test)["mean_log_likelihood"];
    Fit(train, {"--likelihood", likelihood});
    return Evaluate(test)["mean_log_likelihood"].get<double>() - gaussian;
  }
};

TEST_F(LikelihoodTest, CountsArePoisson) {
  EXPECT_GT(Gain(Count, "poisson"), 0.05);
  const Json scores = Evaluate(File("test.csv"));
  EXPECT_NEAR(scores["coverage_90"].get<double>(), 0.9, 0.08);
  const std::string csv = Good({"predict", model_, File("test.csv"), "--quantiles", "0.05,0.95"});
  EXPECT_TRUE(csv.starts_with("mean,std,q05,q95,log_density,outside\n")) << csv.substr(0, 100);
  const std::string line = csv.substr(csv.find('\n') + 1, csv.find('\n', csv.find('\n') + 1));
  double mean = 0, std = 0, low = 0, high = 0, log_density = 0;
  ASSERT_EQ(
      std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf", &mean, &std, &low, &high, &log_density), 5);
  EXPECT_GT(mean, 0);
  EXPECT_EQ(low, std::floor(low));
  EXPECT_EQ(high, std::floor(high));
  EXPECT_GT(high, low);
  EXPECT_LT(log_density, 0);
  EXPECT_GT(
      Json::parse(Good({"inspect", model_, "--json"}))["likelihood_parameters"]["base_rate"][0], 1);
}

TEST_F(LikelihoodTest, StudentTIsNotMovedByOutliers) {
  EXPECT_GT(Gain(WithOutliers, "student_t"), 0.3);
  const Json model = Json::parse(Good({"inspect", model_, "--json"}));
  EXPECT_LT(model["likelihood_parameters"]["degrees_of_freedom_above_2"][0], 3);
  EXPECT_NE(Good({"inspect", model_}).find("likelihood  student_t: squared_scale"),
            std::string::npos);
  // In the units of the file.
  EXPECT_NEAR(
      Json::parse(Good({"predict", model_, File("test.csv"), "--json"}))["predictions"][0]["mean"]
          .get<double>(),
      50, 15);
}

TEST_F(LikelihoodTest, HeteroscedasticNoiseFollowsTheInputs) {
  EXPECT_GT(Gain(Widening, "heteroscedastic"), 0.3);
  const std::string ends = folder_.Write("ends.csv", "x\n-1.8\n1.8\n");
  const auto predicted = [&](const Arguments& more) {
    return Json::parse(Good(Join({"predict", model_, ends, "--json"}, more)))["predictions"];
  };
  const Json y = predicted({});
  EXPECT_GT(y[1]["std"].get<double>(), 5 * y[0]["std"].get<double>());
  const Json f = predicted({"--latent"});
  EXPECT_EQ(f[0].size(), 6U)
      << "the function of the target alone: row, mean, std, two quantiles, outside";
  EXPECT_NEAR(f[0]["mean"].get<double>(), y[0]["mean"].get<double>(), 1e-9);
  EXPECT_LT(f[1]["std"].get<double>(), y[1]["std"].get<double>());
}

TEST_F(LikelihoodTest, WithEveryInferenceAndPropagation) {
  const struct {
    const char* likelihood;
    double (*target)(double, RandomStream*);
  } cases[] = {{"poisson", Count}, {"student_t", WithOutliers}, {"heteroscedastic", Widening}};
  for (const auto& [likelihood, target] : cases) {
    const std::string table = Table("t.csv", 40, 3, target);
    const std::vector<Arguments> ways = {{"--inference", "ep"},
                                         {"--inference", "sep"},
                                         {"--hidden", "2", "--alpha", "0"},
                                         {"--hidden", "2", "--covariance", "full"},
                                         {"--hidden", "2", "--propagation", "samples"},
                                         {"--hidden", "2", "--propagation", "points"}};
    for (const Arguments& way : ways) {
      SCOPED_TRACE(likelihood + (" " + way[1]) + way.back());
      Fit(table, Join({"--likelihood", likelihood, "--steps", "20", "--inducing", "6"}, way));
      const Json scores =
          Evaluate(table, way.back() == "samples" ? Arguments{"--samples", "5"} : Arguments{});
      EXPECT_TRUE(scores["mean_log_likelihood"].is_number()) << scores;
      EXPECT_TRUE(scores["crps"].is_number()) << scores;
    }
    const Json cv = Json::parse(Good({"cv", table, "--target", "y", "--folds", "2", "--steps", "10",
                                      "--inducing", "5", "--likelihood", likelihood, "--json"}));
    EXPECT_TRUE(cv["mean"]["rmse"].is_number());
    Good({"resume", model_, "--steps", "5"});
    Good({"export", model_, "--format", "json"});
  }
}

TEST_F(LikelihoodTest, TargetsThatAreNoCountsAreNamedByTheirRow) {
  const std::string table = folder_.Write("c.csv", "x,y\n1,2\n2,\n3,2.5\n4,1\n");
  const Outcome outcome = Run(FitArguments(table, model_, {"--likelihood", "poisson"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("c.csv: row 3, column 'y': 2.5 must be a count"), std::string::npos)
      << outcome.err;
  Bad(FitArguments(folder_.Write("d.csv", "x,y\n1,2\n2,-1\n"), model_, {"--likelihood", "poisson"}),
      "row 2, column 'y': -1");
}

}  // namespace
}  // namespace fathom
