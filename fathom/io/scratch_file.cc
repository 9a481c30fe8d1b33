#include "fathom/io/scratch_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/io/write_all.h"

namespace fathom {

namespace {

// What grows in parts is never copied.
constexpr std::size_t kMemoryPart = std::size_t{1} << 20;

}  // namespace

std::string ScratchFolder() {
  const char* const folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  return folder != nullptr && *folder != '\0' ? folder : "/var/tmp";
}

ScratchFile::ScratchFile(std::string folder, std::string what)
    : place_(std::move(folder)), what_(std::move(what)) {
  descriptor_ = ::open(place_.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  // Not every file system has files without names.
  name_ = place_ + "/.fathom-XXXXXX";
  descriptor_ = ::mkostemp(name_.data(), O_CLOEXEC);
  if (descriptor_ < 0) ThrowCannotWrite(errno);
}

ScratchFile ScratchFile::InMemory() {
  ScratchFile file("memory", "bytes", -1);
  file.in_memory_ = true;
  return file;
}

ScratchFile ScratchFile::Open(const std::string& path, std::string what) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) ThrowError(path, ": cannot open the file: ", std::strerror(errno));
  return {path, std::move(what), descriptor};
}

ScratchFile::~ScratchFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : place_(std::move(other.place_)),
      what_(std::move(other.what_)),
      name_(std::exchange(other.name_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      in_memory_(other.in_memory_),
      memory_(std::move(other.memory_)) {}

void ScratchFile::Write(std::string_view bytes) {
  while (in_memory_ && !bytes.empty()) {
    if (memory_.empty() || memory_.back().size() == kMemoryPart)
      memory_.emplace_back().reserve(kMemoryPart);
    const std::size_t count = std::min(bytes.size(), kMemoryPart - memory_.back().size());
    memory_.back().append(bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
  if (in_memory_) return;
  if (!WriteAll(descriptor_, bytes)) ThrowCannotWrite(errno);
}

void ScratchFile::Clear() {
  memory_.clear();
  if (in_memory_) return;
  if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0)
    ThrowCannotWrite(errno);
}

std::uint64_t ScratchFile::size() const {
  if (in_memory_)
    return memory_.empty() ? 0 : (memory_.size() - 1) * kMemoryPart + memory_.back().size();
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0)
    ThrowError(place_, ": cannot read ", what_, ": ", std::strerror(errno));
  return static_cast<std::uint64_t>(status.st_size);
}

void ScratchFile::Read(std::uint64_t offset, void* to, std::size_t size) const {
  auto* next = static_cast<char*>(to);
  while (in_memory_ && size > 0) {
    FATHOM_CHECK(offset < this->size());
    const std::string_view part =
        std::string_view{memory_[offset / kMemoryPart]}.substr(offset % kMemoryPart, size);
    next = std::copy(part.begin(), part.end(), next);
    offset += part.size();
    size -= part.size();
  }
  while (size > 0) {
    const ssize_t got = ::pread(descriptor_, next, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      ThrowError(place_, ": cannot read ", what_, ": ",
                 got < 0 ? std::strerror(errno) : "it was cut off", "; begin again");
    }
    next += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
}

void ScratchFile::KeepAs(const std::string& path) {
  FATHOM_CHECK(!in_memory_);
  if (::fsync(descriptor_) != 0) ThrowCannotWrite(errno);
  if (name_.empty()) {
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor_);
    std::string beside = path + ".tmp-" + std::to_string(::getpid());
    if (::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, beside.c_str(), AT_SYMLINK_FOLLOW) != 0)
      ThrowCannotWrite(errno);
    name_ = std::move(beside);
  }
  if (std::rename(name_.c_str(), path.c_str()) != 0) ThrowCannotWrite(errno);
  name_.clear();
}

void ScratchFile::ThrowCannotWrite(int reason) const {
  ThrowError(place_, ": cannot write ", what_, ": ", std::strerror(reason),
             reason == ENOENT ? "; make the folder first" : "; make room, or name another place");
}

}  // namespace fathom
