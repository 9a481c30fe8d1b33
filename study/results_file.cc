#include "study/results_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/file_bytes.h"
#include "fathom/io/write_all.h"

namespace fathom {

namespace {

namespace fs = std::filesystem;

// Reads the records and returns how many bytes they take; what follows has no end of line and does
// not count.
std::size_t ReadRecords(const std::string& path, std::vector<UnitRecord>* records) {
  const FileBytes file(path);
  const std::string_view text = file.bytes();
  std::set<UnitKey> keys;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', begin)) {
    std::optional<UnitRecord> record = ReadRecord(text.substr(begin, end - begin));
    const std::size_t line = records->size() + 1;
    if (!record) {
      ThrowError(path, ": line ", line,
                 ": is no result of 'fathom bench'; name another folder, or remove the line");
    }
    if (!keys.insert(record->key()).second) {
      ThrowError(path, ": line ", line,
                 ": stands there twice, for the same dataset, split and method; remove one");
    }
    records->push_back(*std::move(record));
    begin = end + 1;
  }
  return begin;
}

}  // namespace

std::string ResultsPath(const std::string& folder) {
  return (fs::path(folder) / "results.jsonl").string();
}

std::vector<UnitRecord> ReadResults(const std::string& folder) {
  std::vector<UnitRecord> records;
  if (fs::exists(ResultsPath(folder))) ReadRecords(ResultsPath(folder), &records);
  return records;
}

ResultsFile::ResultsFile(const std::string& folder) : folder_(folder), path_(ResultsPath(folder)) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) ThrowError(folder, ": cannot make the folder: ", problem.message());
  // The folder itself is locked: no file is left behind, and a crash opens it again.
  lock_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) ThrowError(folder, ": cannot open the folder: ", std::strerror(errno));
  try {
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      ThrowError(folder, errno == EWOULDBLOCK
                             ? ": another 'fathom bench' is at work there; wait for it, or name "
                               "another folder"
                             : std::string(": cannot lock the folder: ") + std::strerror(errno));
    }
    if (fs::exists(path_) && ReadRecords(path_, &records_) < fs::file_size(path_)) Rewrite();
    Open();
  } catch (...) {
    Abandon();
    throw;
  }
}

ResultsFile::~ResultsFile() { Abandon(); }

void ResultsFile::Abandon() {
  for (int* descriptor : {&lock_, &file_}) {
    if (*descriptor >= 0) ::close(*descriptor);
    *descriptor = -1;
  }
}

void ResultsFile::Open() {
  if (file_ >= 0) ::close(file_);
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) ThrowError(path_, ": cannot write the file: ", std::strerror(errno));
}

void ResultsFile::Append(const UnitRecord& record) {
  const std::string text = WriteRecord(record) + "\n";
  if (!WriteAll(file_, text) || ::fdatasync(file_) != 0) {
    ThrowError(path_, ": cannot add a result: ", std::strerror(errno),
               "; make room and start again: what is finished is kept");
  }
  records_.push_back(record);
}

void ResultsFile::RemoveIf(const std::function<bool(const UnitRecord&)>& unwanted) {
  if (std::erase_if(records_, unwanted) == 0) return;
  Rewrite();
  Open();
}

void ResultsFile::Rewrite() {
  std::string text;
  for (const UnitRecord& record : records_) text += WriteRecord(record) + "\n";
  const std::string_view whole = text;
  WriteFileAtomically(path_, {&whole, 1});
}

}  // namespace fathom
