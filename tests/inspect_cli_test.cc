// 'fathom inspect', 'fathom export' and '--config', run as a user would.
#include <cmath>
#include <nlohmann/json.hpp>

#include "fathom/data/read_table.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/predictor.h"
#include "tests/support/changed_model.h"
#include "tests/support/program.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

class InspectCommand : public ProgramTest {};
class ExportCommand : public ProgramTest {};
class Config : public ProgramTest {};

TEST_F(InspectCommand, ShowsWhatAModelHasLearnt) {
  Good(FitArguments(train_, model_, {"--steps", "200", "--seed", "7"}));
  const std::string text = Good({"inspect", model_});
  for (const char* part : {"network", "training    200 steps", "noise std", "lengthscale",
                           "relevance", "layer", "se_ard", "alpha = 0.7", "seed = 7"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const Json json = Json::parse(Good({"inspect", model_, "--json"}));
  const Model model = LoadModel(model_);
  EXPECT_EQ(json["kind"], "model");
  EXPECT_EQ(json["rows"], 80);
  ASSERT_EQ(json["inputs"].size(), 4U);
  EXPECT_EQ(json["inputs"][0]["name"], "a");
  // In the units of the file: b varies five times as much as a.
  const Vector& theta = LeadingNetwork(model).layers[0].gps[0].theta;
  const double scale = model.leader().input_scaler.scale[1];
  EXPECT_LE(json["inputs"][1]["lengthscale"].get<double>(), theta[2] * scale * (1 + 1e-12));
  const auto relevance = [&](int input) {
    return json["inputs"][input]["relevance"]["y"].get<double>();
  };
  EXPECT_GT(relevance(0), 3 * relevance(2)) << "column c means nothing";
  EXPECT_GT(relevance(0), 0.1);
  ASSERT_EQ(json["layers"].size(), 2U);
  EXPECT_EQ(json["layers"][0]["functions"].size(), 5U);
  EXPECT_EQ(json["layers"][0]["functions"][0]["kernel_parameters"]["variance"][0], theta[0]);
  EXPECT_EQ(json["recipe"]["optimizer"]["steps"], 200);
  EXPECT_EQ(json["settings"]["steps"][0], "200");
}

TEST_F(InspectCommand, ShowsTheRelevanceOfStraightLinesAndNeighboursToo) {
  Good(FitArguments(train_, model_, {"--local", "only"}));
  EXPECT_NE(Good({"inspect", model_}).find("relevance"), std::string::npos);
  const Json json = Json::parse(Good({"inspect", model_, "--json"}));
  const auto relevance = [&](int input) {
    return json["inputs"][input]["relevance"]["y"].get<double>();
  };
  EXPECT_GT(relevance(0), 3 * relevance(2)) << "column c means nothing";
}

constexpr const char* kHouses =
    "area,kind,built,again,day,price\n"
    "90,flat,1900,90,2024-05-01,200\n"
    "120,house,1900,120,2024-05-02,300\n"
    ",flat,1900,,2024-05-03,\n"
    "150,house,1900,150,2024-05-04,400\n";

TEST_F(InspectCommand, TellsTheProblemsOfATable) {
  const std::string table = folder_.Write("houses.csv", kHouses);
  const Json json = Json::parse(Good({"inspect", table, "--target", "price", "--json"}));
  EXPECT_EQ(json["kind"], "table");
  EXPECT_EQ(json["rows"], 4);
  ASSERT_EQ(json["columns"].size(), 6U);
  const Json& area = json["columns"][0];
  EXPECT_EQ(area["type"], "number");
  EXPECT_EQ(area["missing"], 1);
  EXPECT_EQ(area["min"], 90);
  EXPECT_EQ(area["mean"], 120);
  EXPECT_EQ(area["max"], 150);
  EXPECT_TRUE(area["problem"].is_null());
  EXPECT_EQ(json["columns"][1]["levels"][0], Json({{"text", "flat"}, {"rows", 2}}));
  EXPECT_EQ(json["columns"][2]["constant"], true);
  EXPECT_EQ(json["columns"][4]["type"], "date");
  EXPECT_EQ(json["columns"][5]["role"], "target");
  EXPECT_TRUE(json["fit"]["refusal"].is_null());
  const std::string text = Good({"inspect", table, "--target", "price"});
  EXPECT_NE(text.find("try         fathom fit " + table + " --target price"), std::string::npos)
      << text;
}

TEST_F(InspectCommand, ExitsWith2WhereFitWouldRefuse) {
  std::string names = "name,y\n";
  for (int n = 0; n < 30; ++n)
    names += "k" + std::to_string(n % 29) + "," + std::to_string(n) + "\n";
  const Outcome outcome = Run({"inspect", folder_.Write("names.csv", names), "--target", "y"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.out.find("fit         would refuse it"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("nearly every row"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("try  "), std::string::npos) << "nothing would be left to learn from";
}

TEST_F(InspectCommand, LeavesAnIdOutAsFitDoes) {
  std::string text = "id,x,y\n";
  for (int n = 0; n < 30; ++n)
    text += "k" + std::to_string(n) + "," + std::to_string(n % 7) + "," + std::to_string(n) + "\n";
  const std::string table = folder_.Write("ids.csv", text);
  const Json json = Json::parse(Good({"inspect", table, "--target", "y", "--json"}));
  EXPECT_EQ(json["columns"][0]["role"], "id");
  EXPECT_EQ(json["columns"][0]["problem"], Json());
  EXPECT_EQ(json["fit"]["notes"][0]["kind"], "id_columns");
  EXPECT_EQ(json["fit"]["inputs"], Json({"x"}));
  EXPECT_EQ(json["fit"]["command"].get<std::string>().find("--ignore"), std::string::npos);
  const Outcome fitted = Run({"fit", table, "--target", "y", "--steps", "2", "-o", model_});
  EXPECT_EQ(fitted.code, 0) << fitted.err;
  EXPECT_NE(fitted.err.find("left out column 'id'"), std::string::npos) << fitted.err;
  // Rows to predict need no id, and may have one.
  const std::string with = Good({"predict", model_, folder_.Write("w.csv", "id,x\nnew,3\n")});
  EXPECT_EQ(with, Good({"predict", model_, folder_.Write("o.csv", "x\n3\n")}));
}

TEST_F(InspectCommand, ProposesWhatTheTargetMayBe) {
  const auto inspect = [&](const std::string& values) {
    std::string table = "x,y\n";
    for (std::size_t row = 0; row < values.size(); ++row)
      table += std::to_string(row * row % 7) + "." + std::to_string(row) + "," + values[row] + "\n";
    return Good({"inspect", folder_.Write("kind.csv", table), "--target", "y"});
  };
  const std::string two = inspect("0110100101");
  EXPECT_NE(two.find("target      two values, 0 and 1; if they are classes: try"),
            std::string::npos)
      << two;
  EXPECT_NE(two.find("--target y --task classify -o "), std::string::npos) << two;
  const std::string counts = inspect("0132504129");
  EXPECT_NE(counts.find("target      counts from 0 to 9, "), std::string::npos) << counts;
  EXPECT_EQ(counts.find("--likelihood"), std::string::npos) << "the default recognises them";
  // Far from 0 they are no counts.
  EXPECT_EQ(inspect("5978969758").find("target    "), std::string::npos);
}

TEST_F(InspectCommand, RecognisesFingerprints) {
  std::string text = "fp,y\n";
  for (int n = 0; n < 12; ++n) {
    std::string bits(40, '0');
    bits[static_cast<std::size_t>(n * 7 % 40)] = '1';
    text += bits + "," + std::to_string(n) + "\n";
  }
  const std::string table = folder_.Write("fp.csv", text);
  const Json seen = Json::parse(Good({"inspect", table, "--target", "y", "--json"}));
  EXPECT_NE(seen["columns"][0]["problem"].get<std::string>().find("--bits fp"), std::string::npos);
  EXPECT_NE(seen["fit"]["command"].get<std::string>().find("--bits fp"), std::string::npos);
  // With the option, the column is one of bits, of which the twelve that vary are inputs.
  const Json read =
      Json::parse(Good({"inspect", table, "--target", "y", "--bits", "fp", "--json"}));
  EXPECT_EQ(read["columns"][1]["type"], "bits");
  EXPECT_EQ(read["columns"][1]["problem"], Json());
  EXPECT_EQ(read["fit"]["inputs"].size(), 12U);
}

TEST_F(InspectCommand, NamesTheWordsThatItTakesForMissing) {
  const std::string table =
      folder_.Write("t.csv", "anneal,y\n1h,1\n2h,2\nnone,3\n3h,4\nnone,5\n,6\n4h,7\n-,8\n");
  const std::string text = Good({"inspect", table, "--target", "y"});
  EXPECT_NE(text.find("missing: 'none' 2, '-' 1\n"), std::string::npos) << text;
  const Json seen = Json::parse(Good({"inspect", table, "--target", "y", "--json"}));
  EXPECT_EQ(seen["columns"][0]["missing"], 4);
  EXPECT_EQ(seen["columns"][0]["missing_words"][0]["text"], "none");
}

TEST_F(InspectCommand, SaysOfATableWhatFitThenDoes) {
  const std::string table = folder_.Write("houses.csv", kHouses);
  const Json plan = Json::parse(
      Good({"inspect", table, "--target", "price", "--ignore", "day", "--json"}))["fit"];
  EXPECT_TRUE(plan["refusal"].is_null());
  const Outcome outcome = Run({"fit", table, "--target", "price", "--ignore", "day", "--json",
                               "--steps", "2", "-o", model_});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json fitted = Json::parse(outcome.out);
  for (const char* key : {"rows", "inputs", "targets", "notes"})
    EXPECT_EQ(plan[key], fitted[key]) << key;
  EXPECT_EQ(plan["inputs"], Json({"area", "kind=house"}));
  EXPECT_EQ(plan["rows"], 3);
  const std::string text = Good({"inspect", table, "--ignore", "day"});
  EXPECT_NE(text.find("--target NAME"), std::string::npos) << text;
  const std::string piped = Good({"inspect", "-", "--ignore", "day"}, kHouses);
  const auto columns = [](const std::string& shown) {
    const std::size_t begin = shown.find("\nrows");
    return shown.substr(begin, shown.find("\nnote") - begin);
  };
  EXPECT_EQ(columns(piped), columns(text));
}

TEST_F(InspectCommand, RefusesWhatIsNoModel) {
  Bad({"inspect", File("nowhere.fathom")}, "nowhere.fathom");
  Good(FitArguments(train_, model_));
  SaveModel(Changed(LoadModel(model_), [](ModelParts* parts) { parts->data.settings.clear(); }),
            model_);
  Bad({"inspect", model_, "--config"}, "fathom fit");
}

TEST_F(ExportCommand, JsonHoldsEveryNumberToTheBit) {
  Good(FitArguments(train_, model_));
  const Json json = Json::parse(Good({"export", model_, "--format", "json"}));
  const Model model = LoadModel(model_);
  EXPECT_EQ(json["format"], "fathom-model");
  EXPECT_EQ(json["model"]["inputs"], Json({"a", "b", "c", "d"}));
  const Matrix& Z = LeadingNetwork(model).layers[0].gps[3].Z;
  const Json& exported = json["arrays"]["experts.0.layers.0.gps.3.Z"];
  ASSERT_EQ(exported.size(), static_cast<std::size_t>(Z.rows()));
  for (Index i = 0; i < Z.rows(); ++i) {
    for (Index q = 0; q < Z.cols(); ++q) EXPECT_EQ(exported[i][q].get<double>(), Z(i, q));
  }
}

TEST_F(ExportCommand, WritesFilesAllOrNothing) {
  Good(FitArguments(train_, model_));
  EXPECT_EQ(Good({"export", model_, "--format", "c", "-o", File("my model.h")}), "");
  EXPECT_NE(TestFolder::Read(File("my model.h")).find("my_model_predict("), std::string::npos);
  Bad({"export", model_, "--format", "c", "--name", "1st"}, "'1st'");
  Bad({"export", model_, "--format", "python"}, "--format");
  Bad({"export", model_}, "--format");
  Bad({"export", model_, "--format", "json", "-o", model_}, "overwritten");
}

TEST_F(Config, AFileGivesOptionsAndFlagsWin) {
  const std::string config =
      folder_.Write("run.toml",
                    "# a comment\ntarget = \"y\"\nsteps = 25   # fewer\n[fit]\nhidden = '0'\n"
                    "inducing = 10\nskip-links = false\n\n[predict]\nchunk = 7\n");
  Good({"fit", train_, "--config", config, "-o", model_});
  Model model = LoadModel(model_);
  EXPECT_EQ(model.recipe().optimizer.steps, 25);
  EXPECT_TRUE(model.recipe().architecture.hidden.empty());
  Good({"fit", train_, "--steps", "12", "--config=" + config, "-o", model_, "--skip-links"});
  model = LoadModel(model_);
  EXPECT_EQ(model.recipe().optimizer.steps, 12);
  EXPECT_TRUE(model.recipe().architecture.skip_links);

  const std::string two =
      folder_.Write("two.toml", "target = [\"y\", 'a']\ntrain = \"" + train_ + "\"\nsteps = 3\n");
  Good({"fit", "--config", two, "-o", model_});
  EXPECT_EQ(LoadModel(model_).schema().targets, (std::vector<std::string>{"y", "a"}));
  Good({"fit", "--config", two, "--target", "b", "-o", model_});
  EXPECT_EQ(LoadModel(model_).schema().targets, std::vector<std::string>{"b"});
}

TEST_F(Config, TheSettingsOfAModelFitItAgain) {
  Good(FitArguments(train_, model_, {"--alpha", "0.5", "--shared", "--ignore", "d"}));
  const std::string config = folder_.Write("run.toml", Good({"inspect", model_, "--config"}));
  Good({"fit", "--config", config, "-o", File("second.fathom")});
  EXPECT_EQ(Good({"predict", File("second.fathom"), test_}), Good({"predict", model_, test_}));
  const auto settings = [&](const std::string& model) {
    auto map = LoadModel(model).data().settings;
    map.erase("output");
    return map;
  };
  EXPECT_EQ(settings(File("second.fathom")), settings(model_));
}

TEST_F(Config, TheSettingsSayWhatTheQualityStoodFor) {
  const auto settings = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"fit", train_, "--target", "y",
                                          "-o",  model_, "--effort", "0.01"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Good(arguments);
    auto map = LoadModel(model_).data().settings;
    return map["hidden"][0] + " " + map["inducing"][0] + " " + map["stack"][0];
  };
  EXPECT_EQ(settings({}), "5 100,50 auto");
  EXPECT_EQ(settings({"--quality", "fast"}), "3 50,30 never");
  EXPECT_EQ(settings({"--hidden", "2"}), "2 100,50 never");
  EXPECT_EQ(settings({"--hidden", "2", "--quality", "best", "--inducing", "5"}), "2 5 always");
  EXPECT_EQ(settings({"--quality", "best", "--stack", "never"}), "5 100,50 never");
  EXPECT_EQ(settings({"--quality", "paper", "--steps", "2"}), "3 100 never");
  auto map = LoadModel(model_).data().settings;
  EXPECT_EQ(map["alpha"][0] + " " + map["form"][0] + " " + map["start"][0] + " " + map["decay"][0] +
                " " + map["steps"][0],
            "1 sites paper false 2");
}

TEST_F(Config, FaultsAreNamedByFileLineAndKey) {
  const auto refuse = [&](const std::string& content, const std::string& word) {
    const std::string config = folder_.Write("bad.toml", content);
    Bad({"fit", train_, "--target", "y", "-o", model_, "--config", config}, word);
  };
  Bad({"fit", train_, "--target", "y", "-o", model_, "--config", File("no.toml")}, "no.toml");
  refuse("steps = 3\nstpes = 3\n", "line 2: 'fathom fit' has no option 'stpes'");
  refuse("[fti]\nsteps = 3\n", "line 2: there is no command 'fti'");
  refuse("steps 3\n", "line 1: expected '='");
  refuse("steps =\n", "line 1: expected a value for 'steps'");
  refuse("steps = many\n", "strings need quotes");
  refuse("kernel = \"se_ard\n", "line 1: a quote is not closed");
  refuse("target = [\"y\"\n", "the list has no ']'");
  refuse("steps = 3\nsteps = 4\n", "line 2: 'steps' stands in line 1 already");
  refuse("steps = 3 4\n", "expected the end of the line");
  refuse("= 3\n", "expected a key");
  refuse("steps = 1.5\n", "--steps");
  refuse("config = \"x\"\n", "'config'");
  EXPECT_FALSE(std::filesystem::exists(model_));
}

class Manual : public ProgramTest {};

TEST_F(Manual, ListsTheFieldsOfARecipe) {
  EXPECT_NE(Good({"recipe"})
                .find("optimizer.learning_rate = 0.05   number, positive and at most 10 "
                      "(--learning-rate)\n    Step size"),
            std::string::npos);
  const nlohmann::json fields = nlohmann::json::parse(Good({"recipe", "--json"}));
  EXPECT_EQ(fields[0]["name"], "architecture.hidden");
}

TEST_F(Manual, NamesEveryOptionOfEveryCommand) {
  const std::string man = Good({"man"});
  const std::string bash = Good({"completion", "bash"});
  const std::string zsh = Good({"completion", "zsh"});
  const std::string fish = Good({"completion", "fish"});
  for (const std::string command : {"fit", "resume", "predict", "evaluate", "report", "cv",
                                    "inspect", "export", "recipe", "demo", "completion", "man"}) {
    const std::string help = Good({command, "--help"});
    EXPECT_NE(help.find("Example"), std::string::npos) << command;
    EXPECT_NE(man.find("FATHOM " + command), std::string::npos) << command;
    std::istringstream words(help);
    for (std::string word; words >> word;) {
      // The options stand in the help as "-o,--output" or "--steps"; examples do not count.
      if (word.starts_with("Example")) break;
      const std::size_t at = word.find("--");
      if (at == std::string::npos || word.size() < at + 3) continue;
      const std::string name = word.substr(
          at + 2, word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at + 2) - at - 2);
      std::string escaped;
      for (const char c : "--" + name) escaped += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_NE(man.find(escaped), std::string::npos) << command << " " << name;
      EXPECT_NE(bash.find("--" + name), std::string::npos) << command << " " << name;
      EXPECT_NE(zsh.find("--" + name), std::string::npos) << command << " " << name;
      EXPECT_NE(fish.find(" -l " + name), std::string::npos) << command << " " << name;
    }
  }
  Bad({"completion", "tcsh"}, "SHELL");
}

TEST_F(Manual, ShellsAcceptTheCompletions) {
  folder_.Write("bash", Good({"completion", "bash"}));
  EXPECT_EQ(::system(("bash -n " + File("bash")).c_str()), 0);
  const auto complete = [&](const std::string& words, int last) {
    const std::string command = "bash -c 'source " + File("bash") + "; COMP_WORDS=(" + words +
                                "); COMP_CWORD=" + std::to_string(last) +
                                "; _fathom; echo \"${COMPREPLY[@]}\"' > " + File("words");
    EXPECT_EQ(::system(command.c_str()), 0);
    return TestFolder::Read(File("words"));
  };
  EXPECT_EQ(complete("fathom fit --ste", 2), "--steps\n");
  EXPECT_EQ(complete("fathom fit --quality b", 3), "best\n");
  EXPECT_EQ(complete("fathom fit --kernel m", 3), "matern32 matern52\n");
  EXPECT_EQ(complete("fathom export --format \"\"", 3), "json c\n");
  EXPECT_EQ(complete("fathom completion \"\"", 2), "bash zsh fish\n");
  EXPECT_EQ(complete("fathom completion z", 2), "zsh\n");
  EXPECT_EQ(complete("fathom completion --config " + File("tr"), 3), File("train.csv") + "\n");
  EXPECT_NE(Good({"completion", "zsh"}).find("':SHELL:(bash zsh fish)' ;;"), std::string::npos);
  EXPECT_NE(Good({"completion", "fish"})
                .find("'__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom
