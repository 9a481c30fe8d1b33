#include "fathom/io/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "fathom/base/error.h"

namespace fathom {

namespace {

constexpr std::size_t kFirstSize = 1 << 16;

void GiveBack(std::string_view part) {
  // Whole pages inside the part only: its neighbours may be in use.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

// zlib's decoder, ended however we leave.
struct Inflater {
  z_stream stream{};
  Inflater() {
    constexpr int kGzipOnly = 15 + 16;  // the largest window, and a gzip header before it
    if (::inflateInit2(&stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

uInt Limited(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

FileBytes::FileBytes(const std::string& path) : name_(path == "-" ? "standard input" : path) {
  if (path == "-") {
    Load(STDIN_FILENO);
    return;
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    ThrowError(path, ": cannot open the file: ", std::strerror(errno),
               errno == ENOENT ? "; check its name and its folder" : "");
  }
  try {
    Load(descriptor);
  } catch (...) {
    ::close(descriptor);
    Unmap();
    throw;
  }
  ::close(descriptor);
}

FileBytes::~FileBytes() { Unmap(); }

void FileBytes::Unmap() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_);
  mapping_ = nullptr;
}

void FileBytes::Grow(std::size_t size) {
  void* const grown = mapping_ == nullptr ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                          : ::mremap(mapping_, mapped_, size, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) throw std::bad_alloc();
  mapping_ = grown;
  mapped_ = size;
}

void FileBytes::Release(std::string_view part) const {
  if (of_file_ && Holds(part)) GiveBack(part);
}

void FileBytes::Discard(std::string_view part) const {
  if (Holds(part)) GiveBack(part);
}

bool FileBytes::Holds(std::string_view part) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping_);
  const auto at = reinterpret_cast<std::uintptr_t>(part.data());
  return at >= begin && at + part.size() <= begin + mapped_;
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
      mapped_ = size;
      of_file_ = true;
      bytes_ = {static_cast<const char*>(mapping), size};
      return;
    }
  }
  std::size_t used = 0;
  for (;;) {
    if (used == mapped_) Grow(std::max(kFirstSize, 2 * used));
    const ssize_t got = ::read(descriptor, static_cast<char*>(mapping_) + used, mapped_ - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowError(name_, ": cannot read the file: ", std::strerror(errno));
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes_ = {static_cast<const char*>(mapping_), used};
}

void FileBytes::Unpack() {
  if (!bytes_.starts_with("\x1f\x8b")) return;
  FileBytes packed(std::move(*this));
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::string_view in = packed.bytes();
  std::size_t used = 0;
  const auto fail = [&] {
    ThrowError(name_, ": its gzip data are ", in.empty() ? "cut off" : "damaged",
               "; make the file anew (gzip -t checks one)");
  };
  for (;;) {
    if (used == mapped_) Grow(std::max(kFirstSize, 2 * used));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = Limited(in.size());
    stream.next_out = static_cast<Bytef*>(mapping_) + used;
    stream.avail_out = Limited(mapped_ - used);
    const uInt offered = stream.avail_out;
    const int state = ::inflate(&stream, Z_NO_FLUSH);
    used += offered - stream.avail_out;
    const auto eaten =
        static_cast<std::size_t>(reinterpret_cast<const char*>(stream.next_in) - in.data());
    packed.Discard(in.substr(0, eaten));
    in.remove_prefix(eaten);
    if (state == Z_STREAM_END) {
      bytes_ = {static_cast<const char*>(mapping_), used};
      // Another packed file may follow (cat a.gz b.gz), or padding with zeros (tapes).
      in.remove_prefix(std::min(in.find_first_not_of('\0'), in.size()));
      if (in.empty()) return;
      if (!in.starts_with("\x1f\x8b") || ::inflateReset(&stream) != Z_OK) fail();
    } else if (state != Z_OK) {
      fail();  // also when there is room left but nothing to fill it with
    }
  }
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : name_(other.name_),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      of_file_(std::exchange(other.of_file_, false)),
      bytes_(std::exchange(other.bytes_, {})) {}

}  // namespace fathom
