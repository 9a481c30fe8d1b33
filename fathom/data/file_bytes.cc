#include "fathom/data/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "fathom/base/error.h"

namespace fathom {

FileBytes::FileBytes(const std::string& path) : name_(path == "-" ? "standard input" : path) {
  if (path == "-") {
    Load(STDIN_FILENO);
    return;
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) ThrowError(path, ": cannot open the file: ", std::strerror(errno));
  try {
    Load(descriptor);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
}

FileBytes::~FileBytes() {
  if (mapping_ != nullptr) ::munmap(mapping_, bytes_.size());
}

void FileBytes::Release(std::string_view part) const {
  if (mapping_ == nullptr) return;
  // Whole pages inside the part only: its neighbours may be in use.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void FileBytes::Load(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    ThrowError(name_, ": cannot read the file: ", std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) ThrowError(name_, ": is a directory; name a file in it");
  // A redirected standard input may already have been read in part, so only a file of our own is
  // mapped.
  if (S_ISREG(status.st_mode) && status.st_size > 0 && descriptor != STDIN_FILENO) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping != MAP_FAILED) {
      mapping_ = mapping;
      bytes_ = {static_cast<const char*>(mapping), size};
      return;
    }
  }
  std::size_t used = 0;
  for (;;) {
    if (used == buffer_.size()) buffer_.resize(std::max<std::size_t>(1 << 16, 2 * used));
    const ssize_t got = ::read(descriptor, buffer_.data() + used, buffer_.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowError(name_, ": cannot read the file: ", std::strerror(errno));
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes_ = {buffer_.data(), used};
}

}  // namespace fathom
