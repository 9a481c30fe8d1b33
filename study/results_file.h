// The results of a study: a file with one JSON line per finished unit, to which only one process at
// a time may add. A process that is killed leaves whole lines, and at the worst a last one that is
// cut and does not count.
#ifndef FATHOM_STUDY_RESULTS_FILE_H_
#define FATHOM_STUDY_RESULTS_FILE_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace fathom {

// What names a unit; a file holds at most one line for each.
using UnitKey = std::tuple<std::string, long, std::string>;  // dataset, split, method

UnitKey KeyOf(const nlohmann::ordered_json& line);
bool IsFailure(const nlohmann::ordered_json& line);
// The settings of the method; an object without entries where the line has none.
nlohmann::json SettingsOf(const nlohmann::ordered_json& line);
// The path of the first setting in which they differ, "optimizer/steps"; empty if there is none.
std::string FirstDifference(const nlohmann::json& settings, const nlohmann::json& others);

// The lines of folder/results.jsonl; none if there is no such file. Throws Error naming the line if
// one is not a result or stands there twice.
std::vector<nlohmann::ordered_json> ReadResults(const std::string& folder);

class ResultsFile {
 public:
  // Makes the folder if need be and keeps all others from adding to its results. Throws Error if
  // another process does so already, or the file holds something else.
  explicit ResultsFile(const std::string& folder);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<nlohmann::ordered_json>& lines() const { return lines_; }

  // Adds a line and brings it to disk before it returns.
  void Append(const nlohmann::ordered_json& line);
  // Removes all lines for which `unwanted` holds, at once or not at all.
  void RemoveIf(const std::function<bool(const nlohmann::ordered_json&)>& unwanted);
  // For a child process, which must not hold on to the folder.
  void Abandon();

 private:
  void Rewrite();
  void Open();

  std::string folder_, path_;
  int lock_ = -1, file_ = -1;
  std::vector<nlohmann::ordered_json> lines_;
};

}  // namespace fathom

#endif  // FATHOM_STUDY_RESULTS_FILE_H_
