#include "fathom/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/io/write_all.h"

namespace fathom {
namespace {

std::filesystem::path Folder(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

// Makes the rename itself durable. By now the file is whole and in place, so that a file system
// which cannot do this is no reason to tell the caller that writing failed.
void SyncFolder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

std::string BehindLinks(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code problem;
  if (!fs::is_symlink(path, problem)) return path;
  const fs::path target = fs::weakly_canonical(path, problem);
  if (problem) ThrowError(path, ": cannot follow the link: ", problem.message());
  return target.string();
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(BehindLinks(path_)) {
  struct stat old {};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) ThrowError(path_, ": is a directory; name a file in it");
  if (exists && !S_ISREG(old.st_mode)) {
    ThrowError(path_, ": is not a regular file and would be replaced; name another file");
  }
  if (!OpenWithoutName()) OpenWithName();
  if (exists && ::fchmod(descriptor_, old.st_mode & 07777) != 0) {
    const int reason = errno;
    Abandon();
    ThrowCannotWrite(reason);
  }
}

AtomicFile::~AtomicFile() { Abandon(); }

void AtomicFile::Abandon() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty() && !committed_) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::Write(std::string_view bytes) {
  if (!WriteAll(descriptor_, bytes)) ThrowCannotWrite(errno);
}

void AtomicFile::Commit() {
  if (::fsync(descriptor_) != 0) ThrowCannotWrite(errno);
  if (temporary_.empty()) {
    CommitWithoutName();
  } else {
    // Network file systems report a full disk only here.
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) ThrowCannotWrite(errno);
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) ThrowCannotWrite(errno);
    committed_ = true;
  }
  SyncFolder(Folder(target_));
}

std::string AtomicFile::NextName() const {
  static std::atomic<unsigned> counter{0};
  return target_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
}

std::string AtomicFile::DescriptorPath() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

// While it has no name, a process that is killed leaves nothing behind. Not every file system can
// do this.
bool AtomicFile::OpenWithoutName() {
  descriptor_ = ::open(Folder(target_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return false;
  if (::access(DescriptorPath().c_str(), F_OK) == 0) return true;  // the link needs it
  ::close(descriptor_);
  return false;
}

void AtomicFile::OpenWithName() {
  // Not mkstemp, whose file nobody else may read: here the user's umask decides.
  std::string name;
  do {
    name = NextName();
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) ThrowCannotWrite(errno);
  temporary_ = name;
}

// A link cannot replace a file, so it is put beside the target under a name that nobody has and
// renamed like any other. A process that is killed between these two calls leaves it behind; any
// name that we replaced instead could be a file of the user's.
void AtomicFile::CommitWithoutName() {
  std::string beside = NextName();
  while (::linkat(AT_FDCWD, DescriptorPath().c_str(), AT_FDCWD, beside.c_str(),
                  AT_SYMLINK_FOLLOW) != 0) {
    if (errno != EEXIST) ThrowCannotWrite(errno);
    beside = NextName();
  }
  temporary_ = beside;
  committed_ = std::rename(temporary_.c_str(), target_.c_str()) == 0;
  if (!committed_) ThrowCannotWrite(errno);
}

void AtomicFile::ThrowCannotWrite(int reason) const {
  ThrowError(path_, ": cannot write the file: ", std::strerror(reason),
             reason == ENOENT ? "; make its folder first" : "; make room, or name another place");
}

void WriteFileAtomically(const std::string& path, std::span<const std::string_view> parts) {
  AtomicFile file(path);
  for (const std::string_view part : parts) file.Write(part);
  file.Commit();
}

}  // namespace fathom
