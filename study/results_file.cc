#include "study/results_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/file_bytes.h"

namespace fathom {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string PathIn(const std::string& folder) {
  return (fs::path(folder) / "results.jsonl").string();
}

bool IsResult(const Json& line) {
  if (!line.is_object()) return false;
  const auto has = [&](const char* name, Json::value_t type) {
    const auto found = line.find(name);
    return found != line.end() && found->type() == type;
  };
  return has("dataset", Json::value_t::string) && has("method", Json::value_t::string) &&
         has("split", Json::value_t::number_unsigned) &&
         (has("scores", Json::value_t::object) || has("failure", Json::value_t::string));
}

// The lines of the file and the bytes that they take; what follows has no end and does not count.
std::size_t ReadLines(const std::string& path, std::vector<Json>* lines) {
  const FileBytes file(path);
  const std::string_view text = file.bytes();
  std::set<UnitKey> keys;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', begin)) {
    lines->push_back(Json::parse(text.substr(begin, end - begin), nullptr, false));
    if (!IsResult(lines->back())) {
      ThrowError(path, ": line ", lines->size(),
                 ": is no result of 'fathom bench'; name another folder, or remove the line");
    }
    if (!keys.insert(KeyOf(lines->back())).second) {
      ThrowError(path, ": line ", lines->size(),
                 ": stands there twice, for the same dataset, split and method; remove one");
    }
    begin = end + 1;
  }
  return begin;
}

}  // namespace

UnitKey KeyOf(const Json& line) {
  return {line.at("dataset").get<std::string>(), line.at("split").get<long>(),
          line.at("method").get<std::string>()};
}

bool IsFailure(const Json& line) { return line.contains("failure"); }

nlohmann::json SettingsOf(const Json& line) {
  return line.contains("settings") ? nlohmann::json(line["settings"]) : nlohmann::json::object();
}

std::string FirstDifference(const nlohmann::json& settings, const nlohmann::json& others) {
  const nlohmann::json difference = nlohmann::json::diff(settings, others);
  return difference.empty() ? "" : difference[0]["path"].get<std::string>().substr(1);
}

std::vector<Json> ReadResults(const std::string& folder) {
  std::vector<Json> lines;
  if (fs::exists(PathIn(folder))) ReadLines(PathIn(folder), &lines);
  return lines;
}

ResultsFile::ResultsFile(const std::string& folder) : folder_(folder), path_(PathIn(folder)) {
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
    if (fs::exists(path_) && ReadLines(path_, &lines_) < fs::file_size(path_)) Rewrite();
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

void ResultsFile::Append(const Json& line) {
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const ssize_t written = ::write(file_, text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()) || ::fdatasync(file_) != 0) {
    const bool cut = written >= 0 && written != static_cast<ssize_t>(text.size());
    const int reason = cut ? ENOSPC : errno;
    ThrowError(path_, ": cannot add a result: ", std::strerror(reason),
               "; make room and start again: what is finished is kept");
  }
  lines_.push_back(line);
}

void ResultsFile::RemoveIf(const std::function<bool(const Json&)>& unwanted) {
  if (std::erase_if(lines_, unwanted) == 0) return;
  Rewrite();
  Open();
}

void ResultsFile::Rewrite() {
  std::string text;
  for (const Json& line : lines_)
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::string_view whole = text;
  WriteFileAtomically(path_, {&whole, 1});
}

}  // namespace fathom
