// A library to be preloaded: makes the k-th call of a function fail, as a full disk or a lack of
// memory would. FATHOM_FAULT is "write 3" for the third write, and so on; "short 3" lets the third
// write take one byte only, "shrink 1" empties the first file that is mapped, once it is mapped,
// and "full 65536" is a disk on which no write of so many bytes finds room.
// FATHOM_FAULT_FILE names a file that is made when that happens, so that a test knows when it has
// tried all calls.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> calls{0};
// Set when main begins: what fails before it can only end the program.
std::atomic<bool> begun{false};

// Whether this call of `name` is the one that fails. Allocates nothing.
bool IsTheOne(const char* name, int reason) {
  const char* const fault = std::getenv("FATHOM_FAULT");
  const std::size_t length = std::strlen(name);
  if (!begun || fault == nullptr || std::strncmp(fault, name, length) != 0 || fault[length] != ' ')
    return false;
  if (++calls != std::atol(fault + length + 1)) return false;
  if (const char* const file = std::getenv("FATHOM_FAULT_FILE")) {
    const long made = ::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT, 0600);
    ::syscall(SYS_close, made);
  }
  errno = reason;
  return true;
}

bool FindsNoRoom(std::size_t size) {
  constexpr char kFull[] = "full ";
  const char* const fault = std::getenv("FATHOM_FAULT");
  if (!begun || fault == nullptr || std::strncmp(fault, kFull, std::strlen(kFull)) != 0)
    return false;
  errno = ENOSPC;
  return size >= std::strtoul(fault + std::strlen(kFull), nullptr, 10);
}

// What the call does otherwise.
template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// The parameters have names of ours, not those of the C library.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

// The first thing that main does is to choose what signals mean.
sighandler_t signal(int number, sighandler_t handler) noexcept {
  begun = true;
  static auto* const next = Next<sighandler_t(int, sighandler_t)>("signal");
  return next(number, handler);
}

ssize_t write(int file, const void* bytes, size_t size) {
  // Messages must get out, or nobody knows what is said.
  if (file != STDERR_FILENO && (IsTheOne("write", ENOSPC) || FindsNoRoom(size))) return -1;
  if (file != STDERR_FILENO && size > 1 && IsTheOne("short", 0)) size = 1;
  return ::syscall(SYS_write, file, bytes, size);
}

int fsync(int file) {
  if (IsTheOne("fsync", EIO)) return -1;
  return static_cast<int>(::syscall(SYS_fsync, file));
}

int rename(const char* from, const char* to) noexcept {
  if (IsTheOne("rename", EACCES)) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (IsTheOne("linkat", ENOSPC)) return -1;
  return static_cast<int>(::syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

void* mmap(void* place, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  if (IsTheOne("mmap", ENOMEM)) return MAP_FAILED;
  void* const mapping =
      reinterpret_cast<void*>(::syscall(SYS_mmap, place, size, protection, flags, file, offset));
  if (file >= 0 && IsTheOne("shrink", 0)) {
    char descriptor[32];
    std::snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", file);
    if (::truncate(descriptor, 0) != 0) std::abort();
  }
  return mapping;
}

void* malloc(size_t size) noexcept {
  static auto* const next = Next<void*(size_t)>("malloc");
  return IsTheOne("malloc", ENOMEM) ? nullptr : next(size);
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
