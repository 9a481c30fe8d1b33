#include "fathom/data/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "fathom/base/error.h"

namespace fathom {
namespace {

[[noreturn]] void ThrowCannotWrite(const std::string& path, int reason) {
  ThrowError(path, ": cannot write the file: ", std::strerror(reason),
             "; make room, or name another place");
}

std::filesystem::path Folder(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

// A file that disappears again unless Commit gives it its place.
class TemporaryFile {
 public:
  TemporaryFile(std::string target, const std::string& shown)
      : target_(std::move(target)), shown_(shown) {
    if (!OpenWithoutName()) OpenWithName();
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty() && !committed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return descriptor_; }

  void Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) ThrowCannotWrite(shown_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void Commit() {
    if (::fsync(descriptor_) != 0) ThrowCannotWrite(shown_, errno);
    if (path_.empty()) return CommitWithoutName();
    // Network file systems report a full disk only here.
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) ThrowCannotWrite(shown_, errno);
    if (std::rename(path_.c_str(), target_.c_str()) != 0) ThrowCannotWrite(shown_, errno);
    committed_ = true;
  }

 private:
  std::string NextName() const {
    static std::atomic<unsigned> counter{0};
    return target_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
  }
  std::string DescriptorPath() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  // While it has no name, a process that is killed leaves nothing behind. Not every file system can
  // do this.
  bool OpenWithoutName() {
    const std::string folder = Folder(target_).string();
    descriptor_ = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return false;
    if (::access(DescriptorPath().c_str(), F_OK) == 0) return true;  // the link needs it
    ::close(descriptor_);
    return false;
  }
  void OpenWithName() {
    // Not mkstemp, whose file nobody else may read: here the user's umask decides.
    std::string path;
    do {
      path = NextName();
      descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) ThrowCannotWrite(shown_, errno);
    path_ = path;
  }
  // A link cannot replace a file, so it is put beside the target and renamed like any other. Always
  // under the same name, so that what a process left there that was killed in between is replaced
  // and not added to. Of two processes that commit at once, one starts over.
  void CommitWithoutName() {
    const std::string beside = target_ + ".fathom-tmp";
    do {
      while (::linkat(AT_FDCWD, DescriptorPath().c_str(), AT_FDCWD, beside.c_str(),
                      AT_SYMLINK_FOLLOW) != 0) {
        if (errno != EEXIST) ThrowCannotWrite(shown_, errno);
        if (::unlink(beside.c_str()) != 0 && errno != ENOENT) ThrowCannotWrite(shown_, errno);
      }
      path_ = beside;
      committed_ = std::rename(path_.c_str(), target_.c_str()) == 0;
    } while (!committed_ && errno == ENOENT);
    if (!committed_) ThrowCannotWrite(shown_, errno);
  }

  std::string target_, path_;  // path_ is empty while the file has no name
  const std::string& shown_;
  int descriptor_ = -1;
  bool committed_ = false;
};

// Makes the rename itself durable. By now the file is whole and in place, so that a file system
// which cannot do this is no reason to tell the caller that writing failed.
void SyncFolder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

}  // namespace

void WriteFileAtomically(const std::string& path, std::span<const std::string_view> parts) {
  namespace fs = std::filesystem;
  std::error_code problem;
  fs::path target = path;
  if (fs::is_symlink(target, problem)) {
    target = fs::weakly_canonical(target, problem);
    if (problem) ThrowError(path, ": cannot follow the link: ", problem.message());
  }
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) ThrowError(path, ": is a directory; name a file in it");
  if (exists && !S_ISREG(old.st_mode)) {
    ThrowError(path, ": is not a regular file and would be replaced; name another file");
  }

  TemporaryFile file(target.string(), path);
  if (exists && ::fchmod(file.descriptor(), old.st_mode & 07777) != 0) {
    ThrowCannotWrite(path, errno);
  }
  for (const std::string_view part : parts) file.Write(part);
  file.Commit();
  SyncFolder(Folder(target));
}

}  // namespace fathom
