#include "study/command_method.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/csv.h"
#include "fathom/data/read_table.h"
#include "study/quantile_observation.h"

namespace fathom {

namespace {

constexpr int kNotInstalled = 77;

// A folder that goes away with this.
class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "fathom-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      ThrowError("cannot make a folder for the command: ", std::strerror(errno));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void SaveTable(const std::string& path, const std::vector<std::string>& columns,
               const Matrix& values) {
  std::ofstream out(path, std::ios::binary);
  WriteCsv(out, columns, values);
}

std::string LastLine(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

// Runs the command with the folder as its last argument; its standard error goes into a file there.
// Returns how it ended, as waitpid tells it.
int RunCommand(const std::string& command, const ScratchFolder& folder) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, folder.File("stderr").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::vector<std::string> words = {"sh", "-c", command + " \"$0\"", folder.path()};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int problem =
      ::posix_spawn(&child, "/bin/sh", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) ThrowError("cannot start a shell: ", std::strerror(problem));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void RequireSuccess(const std::string& command, int status, const ScratchFolder& folder) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string said = LastLine(folder.File("stderr"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotInstalled)
    ThrowError("skipped: ", said.empty() ? "something that it needs is not installed" : said);
  const std::string end = WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                            : "signal " + std::to_string(WTERMSIG(status));
  ThrowError("the command ", Quoted(command), " ended with ", end, said.empty() ? "" : ": ", said);
}

class CommandPredictor : public Predictor {
 public:
  CommandPredictor(std::string command, Dataset train)
      : command_(std::move(command)), train_(std::move(train)) {}

  // The program sees both tables at once, so that it learns here.
  bool LearnsWhenAsked() const override { return true; }

  TargetPrediction Predict(const Moments& inputs) const override {
    const ScratchFolder folder;
    std::vector<std::string> columns = train_.schema().FeatureNames();
    SaveTable(folder.File("test.csv"), columns, inputs.mean);
    columns.push_back(train_.schema().targets[0]);
    Matrix train(train_.rows(), inputs.cols() + 1);
    train << train_.inputs().mean, train_.targets();
    SaveTable(folder.File("train.csv"), columns, train);
    RequireSuccess(command_, RunCommand(command_, folder), folder);
    if (!std::filesystem::exists(folder.File("predictions.csv")))
      ThrowError("the command ", Quoted(command_), " wrote no predictions.csv");
    Table table = ReadTable(folder.File("predictions.csv"));
    table.source = "predictions.csv";
    if (table.values.rows() != inputs.rows())
      ThrowError("predictions.csv: has ", table.values.rows(), " rows where test.csv has ",
                 inputs.rows());
    return ReadPrediction(table);
  }

 private:
  std::string command_;
  Dataset train_;
};

class CommandOfOptions : public Method {
 public:
  explicit CommandOfOptions(std::string command) : command_(std::move(command)) {}

  std::unique_ptr<Predictor> Fit(const Dataset& train) const override {
    if (train.schema().has_classes() || train.targets().cols() != 1)
      ThrowError(train.source(), ": a command predicts one target, a number");
    return std::make_unique<CommandPredictor>(command_, train);
  }
  nlohmann::json Settings() const override { return {{"command", command_}}; }
  // A guess: the time of a program that nobody knows grows with the table.
  double Work(Index rows, Index inputs) const override {
    return 1e6 * static_cast<double>(rows * inputs);
  }

 private:
  std::string command_;
};

// 0.05 of "q05"; 0 if the name is none of a quantile.
double LevelOf(const std::string& name) {
  if (name.size() < 2 || name[0] != 'q' ||
      name.find_first_not_of("0123456789", 1) != std::string::npos)
    return 0;
  return std::strtod(("0." + name.substr(1)).c_str(), nullptr);
}

Prediction PredictionOfSamples(const Matrix& samples) {
  const Index S = samples.cols();
  const Vector mean = samples.rowwise().mean();
  const Vector sd =
      ((samples.colwise() - mean).rowwise().squaredNorm() / static_cast<double>(S)).cwiseSqrt();
  if (!(sd.array() > 0).all())
    ThrowError("the samples of a row are all the same; they have no density");
  const double shrink = 1.06 * std::pow(static_cast<double>(S), -0.2);
  Prediction prediction;
  prediction.weights = Vector::Constant(S, 1 / static_cast<double>(S));
  for (Index s = 0; s < S; ++s)
    prediction.components.emplace_back(Matrix(samples.col(s)), Matrix((shrink * sd).cwiseAbs2()));
  return prediction;
}

}  // namespace

std::unique_ptr<Method> CommandMethod(const std::string& command) {
  if (command.empty()) ThrowError("name the program: command = \"python3 my_method.py\"");
  return std::make_unique<CommandOfOptions>(command);
}

Prediction ReadPrediction(const Table& table) {
  if (!table.values.allFinite())
    ThrowError(table.source, ": a cell is empty or not a finite number");
  if (table.columns == std::vector<std::string>{"mean", "std"}) {
    if (!(table.values.col(1).array() > 0).all())
      ThrowError(table.source, ": a standard deviation is not positive");
    return Prediction::Gaussian({table.values.col(0), table.values.col(1).cwiseAbs2()});
  }
  std::vector<double> levels;
  for (const std::string& name : table.columns) levels.push_back(LevelOf(name));
  try {
    if (std::count(levels.begin(), levels.end(), 0) == 0)
      return PredictionOfQuantiles(levels, table.values);
    if (table.columns.size() < 2)
      ThrowError("one column is no distribution; write mean and std, quantiles or samples");
    return PredictionOfSamples(table.values);
  } catch (const Error& error) {
    ThrowError(table.source, ": ", error.what());
  }
}

}  // namespace fathom
