// The results of a study: a file with one record per finished unit, to which only one process at a
// time may add. A process that is killed leaves whole lines, and at the worst a last one that is
// cut and does not count.
#ifndef FATHOM_STUDY_RESULTS_FILE_H_
#define FATHOM_STUDY_RESULTS_FILE_H_

#include <functional>
#include <string>
#include <vector>

#include "study/unit_record.h"

namespace fathom {

// folder/results.jsonl
std::string ResultsPath(const std::string& folder);

// The records of folder/results.jsonl; none if there is no such file. Throws Error naming the line
// if one is not a record or stands there twice.
std::vector<UnitRecord> ReadResults(const std::string& folder);

class ResultsFile {
 public:
  // Makes the folder if need be and keeps all others from adding to its results. Throws Error if
  // another process does so already, or the file holds something else.
  explicit ResultsFile(const std::string& folder);
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<UnitRecord>& records() const { return records_; }

  // Adds a record and brings it to disk before it returns.
  void Append(const UnitRecord& record);
  // Removes all records for which `unwanted` holds, at once or not at all.
  void RemoveIf(const std::function<bool(const UnitRecord&)>& unwanted);
  // Lets go of the folder; a child process must not hold on to it.
  void Abandon();

 private:
  void Rewrite();
  void Open();

  std::string folder_, path_;
  int lock_ = -1, file_ = -1;
  std::vector<UnitRecord> records_;
};

}  // namespace fathom

#endif  // FATHOM_STUDY_RESULTS_FILE_H_
