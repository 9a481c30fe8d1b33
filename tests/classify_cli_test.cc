// Classification from the command line, with labels of every kind.
#include <nlohmann/json.hpp>

#include "tests/support/program.h"

namespace fathom {
namespace {

// Inside, between and outside of two circles, with the label of each as it stands in a CSV file.
std::string Rings(Index rows, std::uint64_t seed, const std::vector<std::string>& labels) {
  RandomStream stream(seed);
  std::ostringstream out;
  out << "a,b,y\n";
  for (Index n = 0; n < rows; ++n) {
    const double a = stream.Normal();
    const double b = stream.Normal();
    const double radius = std::sqrt(a * a + b * b);
    const std::size_t ring = labels.size() == 2 ? (radius < 1.2) : (radius > 0.8) + (radius > 1.5);
    out << a << "," << b << "," << labels[ring] << "\n";
  }
  return out.str();
}

// A label as it stands in a CSV file.
std::string CsvField(const std::string& label) {
  if (label.find_first_of(",\"") == std::string::npos) return label;
  std::string field = "\"";
  for (const char c : label) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

const std::vector<std::string> kThree = {"\"in, deep\"", R"("a ""ring""")", "out"};

class ClassifyTest : public ProgramTest {
 protected:
  std::string Table(const std::string& name, Index rows, std::uint64_t seed,
                    const std::vector<std::string>& labels) const {
    return folder_.Write(name, Rings(rows, seed, labels));
  }
  Arguments Fit(const std::string& table, const Arguments& more = {}) const {
    return Join({"fit", table, "--target", "y", "-o", model_, "--steps", "120", "--hidden", "0",
                 "--inducing", "15"},
                more);
  }
  nlohmann::json Evaluate(const std::string& table) const {
    return nlohmann::json::parse(Good({"evaluate", model_, table, "--json"}));
  }
};

TEST_F(ClassifyTest, TextsAreClassesWithCommasAndQuotesInThem) {
  const std::string train = Table("c.csv", 200, 1, kThree);
  const std::string test = Table("t.csv", 100, 2, kThree);
  const std::string report = Good(Fit(train));
  EXPECT_NE(report.find("'in, deep'"), std::string::npos) << report;
  EXPECT_EQ(report.find("noise std"), std::string::npos) << report;
  const nlohmann::json scores = Evaluate(test);
  EXPECT_GT(scores["accuracy"], 0.8);
  EXPECT_GT(scores["mean_log_likelihood"], -0.6);
  EXPECT_EQ(scores["classes"], nlohmann::json({"a \"ring\"", "in, deep", "out"}));
  EXPECT_EQ(scores["confusion"].size(), 3U);
  EXPECT_EQ(nlohmann::json::parse(Good({"evaluate", model_, test, "--json", "--chunk", "7"})),
            scores);
  EXPECT_NE(Good({"evaluate", model_, test}).find("true \\ predicted"), std::string::npos);

  const std::string csv = Good({"predict", model_, test});
  EXPECT_TRUE(
      csv.starts_with("class,\"p_a \"\"ring\"\"\",\"p_in, deep\",p_out,log_probability,outside\n"))
      << csv.substr(0, 200);
  EXPECT_NE(csv.find("\n\"in, deep\","), std::string::npos);
  EXPECT_EQ(CountLines(csv), 101U);
  EXPECT_EQ(Good({"predict", model_, test, "--chunk", "7"}), csv);
  const std::string text = Good({"predict", model_, test, "--json"});
  EXPECT_EQ(Good({"predict", model_, test, "--json", "--chunk", "7"}), text);
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["classes"], scores["classes"]);
  ASSERT_EQ(json["predictions"].size(), 100U);
  const nlohmann::json& first = json["predictions"][0];
  EXPECT_EQ(csv.find("\n" + CsvField(first["class"])), csv.find('\n'));
  EXPECT_NEAR(first["p_out"].get<double>() + first["p_in, deep"].get<double>() +
                  first["p_a \"ring\""].get<double>(),
              1, 1e-12);
  const std::string latent = Good({"predict", model_, test, "--latent"});
  EXPECT_TRUE(latent.starts_with("\"a \"\"ring\"\"_mean\",")) << latent.substr(0, 200);

  EXPECT_NE(Good({"inspect", model_}).find("relevance"), std::string::npos);
  EXPECT_NE(Good({"export", model_, "--format", "json"}).find("in, deep"), std::string::npos);
  EXPECT_NE(Good({"export", model_, "--format", "c"}).find("_probabilities("), std::string::npos);
}

TEST_F(ClassifyTest, NumbersAreClassesOnRequest) {
  const std::string train = Table("c.csv", 150, 1, {"0", "10"});
  const std::string test = Table("t.csv", 100, 2, {"0", "10"});
  Good(Fit(train, {"--task", "classify"}));
  EXPECT_EQ(Evaluate(test)["classes"], nlohmann::json({"0", "10"}));
  EXPECT_GT(Evaluate(test)["accuracy"], 0.85);
  EXPECT_TRUE(Good({"predict", model_, test, "--latent"}).starts_with("mean,std,"));
  // A likelihood of classes asks for classes by itself, and one of numbers for numbers.
  Good(Fit(train, {"--likelihood", "probit"}));
  EXPECT_GT(Evaluate(test)["accuracy"], 0.85);
  Good(Fit(train, {"--likelihood", "gaussian"}));
  EXPECT_TRUE(Evaluate(test).contains("rmse"));
}

TEST_F(ClassifyTest, ByEpSepAndSoftmax) {
  const std::string train = Table("c.csv", 60, 1, {"no", "yes"});
  const std::string test = Table("t.csv", 60, 2, {"no", "yes"});
  for (const char* inference : {"ep", "sep"}) {
    Good(Fit(train, {"--inference", inference, "--steps", "40"}));
    EXPECT_GT(Evaluate(test)["accuracy"], 0.75) << inference;
  }
  const std::string three = Table("three.csv", 30, 1, kThree);
  Good(Fit(three, {"--likelihood", "softmax", "--steps", "10"}));
  EXPECT_EQ(Evaluate(three)["confusion"].size(), 3U);
}

TEST_F(ClassifyTest, ResumeFindsTheClassesAgain) {
  const std::string train = Table("c.csv", 60, 1, {"0", "1"});
  Good(Fit(train, {"--likelihood", "probit", "--steps", "20"}));
  Good({"resume", model_, "--steps", "10"});
  EXPECT_EQ(Evaluate(train)["classes"], nlohmann::json({"0", "1"}));
}

TEST_F(ClassifyTest, CrossValidation) {
  const std::string train = Table("c.csv", 120, 1, kThree);
  const Arguments cv = {"cv",      train, "--target",   "y",  "--folds",  "3",
                        "--steps", "60",  "--inducing", "10", "--hidden", "0"};
  const nlohmann::json json = nlohmann::json::parse(
      Good(Join(cv, {"--json", "-o", File("held_out.csv"), "--threads", "1"})));
  EXPECT_GT(json["mean"]["accuracy"], 0.6);
  EXPECT_EQ(json["folds"].size(), 3U);
  Index rows = 0;
  for (const auto& row : json["confusion"]) {
    for (const Index count : row) rows += count;
  }
  EXPECT_EQ(rows, 120);
  const std::string held_out = TestFolder::Read(File("held_out.csv"));
  EXPECT_TRUE(held_out.starts_with("row,fold,class,")) << held_out.substr(0, 100);
  EXPECT_EQ(CountLines(held_out), 121U);
  EXPECT_EQ(nlohmann::json::parse(Good(Join(cv, {"--json", "--threads", "2"}))), json);
}

TEST_F(ClassifyTest, BadLabelsAreNamed) {
  const std::string train = Table("c.csv", 60, 1, {"no", "yes"});
  const std::string other = Table("o.csv", 20, 2, {"no", "maybe"});
  Good(Fit(train));
  Bad({"evaluate", model_, other}, "'maybe'");
  // A prediction needs no label: a bad one counts as missing and is told.
  const Outcome predicted = Run({"predict", model_, other});
  EXPECT_EQ(predicted.code, 0);
  EXPECT_NE(predicted.err.find("'maybe'"), std::string::npos) << predicted.err;
  EXPECT_NE(predicted.out.find(",NaN,"), std::string::npos);
  Bad(Fit(Table("one.csv", 20, 1, {"yes", "yes"})), "one class only");
  Bad(Fit(train, {"--task", "regress"}), "is not a number");
  Bad(Fit(train, {"--likelihood", "gaussian"}), "is not a number");
  Bad(Fit(train, {"--likelihood", "student"}), "'student'");
  Bad(Fit(Table("three.csv", 60, 1, kThree), {"--likelihood", "probit"}), "2 classes");
  Bad(Fit(train_, {"--task", "classify"}), "nearly every row");
}

TEST_F(ClassifyTest, AClassWithOneRow) {
  const std::string train = folder_.Write("c.csv", Rings(40, 1, {"no", "yes"}) + "8,8,alone\n");
  Good(Fit(train));
  EXPECT_EQ(Evaluate(train)["classes"], nlohmann::json({"alone", "no", "yes"}));
}

}  // namespace
}  // namespace fathom
