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
#include <filesystem>
#include <iterator>
#include <limits>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/io/scratch_file.h"

namespace fathom {

namespace {

constexpr std::size_t kFirstSize = 1 << 16;
constexpr std::string_view kGzip = "\x1f\x8b";

// With the pages that the part begins and ends in, or without: its neighbours may be in use.
void GiveBack(std::string_view part, bool with_edges) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(part.data());
  const auto last = first + part.size();
  const auto begin = (with_edges ? first : first + page - 1) / page * page;
  const auto end = (with_edges ? last + page - 1 : last) / page * page;
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
  if (of_file_ && Holds(part)) GiveBack(part, /*with_edges=*/true);
}

void FileBytes::Discard(std::string_view part) const {
  if (Holds(part)) GiveBack(part, /*with_edges=*/false);
}

bool FileBytes::Holds(std::string_view part) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping_);
  const auto at = reinterpret_cast<std::uintptr_t>(part.data());
  return at >= begin && at + part.size() <= begin + mapped_;
}

bool FileBytes::Map(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
    return false;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapping == MAP_FAILED) return false;
  mapping_ = mapping;
  mapped_ = size;
  of_file_ = true;
  bytes_ = {static_cast<const char*>(mapping), size};
  return true;
}

bool FileBytes::Map(int descriptor, const std::string& path) {
  struct stat status {};
  if (!Map(descriptor) || ::fstat(descriptor, &status) != 0) return mapping_ != nullptr;
  constexpr std::int64_t kNanos = 1'000'000'000;
  const Identity identity{.inode = status.st_ino,
                          .size = bytes_.size(),
                          .modified = status.st_mtim.tv_sec * kNanos + status.st_mtim.tv_nsec};
  std::error_code problem;
  const std::string whole_path = std::filesystem::absolute(path, problem).string();
  if (!problem) extents_ = {{.path = whole_path, .identity = identity, .size = bytes_.size()}};
  return true;
}

void FileBytes::Load(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    ThrowError(name_, ": cannot read the file: ", std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) ThrowError(name_, ": is a directory; name a file in it");
  // A redirected standard input may already have been read in part, so only a file of our own is
  // mapped.
  if (descriptor != STDIN_FILENO && Map(descriptor, name_)) return;
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

namespace {

// Unpacks gzip data. next_room() gives room for some bytes, and took(n) hears how many were put
// there.
template <typename NextRoom, typename Took>
void Inflate(const FileBytes& packed, const NextRoom& next_room, const Took& took) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::string_view in = packed.bytes();
  const auto fail = [&] {
    ThrowError(packed.name(), ": its gzip data are ", in.empty() ? "cut off" : "damaged",
               "; make the file anew (gzip -t checks one)");
  };
  for (;;) {
    const std::span<char> room = next_room();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = Limited(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = Limited(room.size());
    const uInt offered = stream.avail_out;
    const int state = ::inflate(&stream, Z_NO_FLUSH);
    took(offered - stream.avail_out);
    const auto eaten =
        static_cast<std::size_t>(reinterpret_cast<const char*>(stream.next_in) - in.data());
    packed.Discard(in.substr(0, eaten));
    in.remove_prefix(eaten);
    if (state == Z_STREAM_END) {
      // Another packed file may follow (cat a.gz b.gz), or padding with zeros (tapes).
      in.remove_prefix(std::min(in.find_first_not_of('\0'), in.size()));
      if (in.empty()) return;
      if (!in.starts_with(kGzip) || ::inflateReset(&stream) != Z_OK) fail();
    } else if (state != Z_OK) {
      fail();  // also when there is room left but nothing to fill it with
    }
  }
}

void CopyPipe(const std::string& name, int descriptor, ScratchFile* copy) {
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowError(name, ": cannot read the file: ", std::strerror(errno));
    if (got == 0) return;
    copy->Write({buffer.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace

void FileBytes::Unpack() {
  if (!bytes_.starts_with(kGzip)) return;
  const FileBytes packed(std::move(*this));
  name_ = packed.name_;
  std::size_t used = 0;
  Inflate(
      packed,
      [&] {
        if (used == mapped_) Grow(std::max(kFirstSize, 2 * used));
        return std::span(static_cast<char*>(mapping_) + used, mapped_ - used);
      },
      [&](std::size_t bytes) { used += bytes; });
  bytes_ = {static_cast<const char*>(mapping_), used};
}

FileBytes FileBytes::ThroughDisk(const std::string& path, const std::string& folder) {
  const bool standard_input = path == "-";
  FileBytes file(standard_input ? "standard input" : path, Nothing{});
  const int descriptor =
      standard_input ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return FileBytes(path);  // says why
  try {
    if (standard_input || !file.Map(descriptor, path)) {
      ScratchFile copy(folder, "a copy of " + file.name_);
      CopyPipe(file.name_, descriptor, &copy);
      file.Map(copy.descriptor());
    }
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
  if (!file.bytes_.starts_with(kGzip)) return file;
  ScratchFile plain(folder, "the unpacked text of " + file.name_);
  std::vector<char> buffer(1 << 20);
  Inflate(
      file, [&] { return std::span(buffer); },
      [&](std::size_t bytes) {
        plain.Write({buffer.data(), bytes});
      });
  FileBytes unpacked(file.name_, Nothing{});
  unpacked.Map(plain.descriptor());
  return unpacked;
}

FileBytes FileBytes::OfParts(const std::string& name, const ScratchFile& file,
                             std::vector<Part> parts, std::vector<Extent> extents) {
  FileBytes bytes(name, Nothing{});
  bytes.Map(file.descriptor());
  bytes.parts_ = std::move(parts);
  bytes.extents_ = std::move(extents);
  return bytes;
}

std::string FileBytes::PlaceOf(const std::string& name, std::span<const Part> parts, Index line) {
  const auto next = std::find_if(parts.begin(), parts.end(),
                                 [&](const Part& part) { return part.first_line > line; });
  if (next == parts.begin()) return name + ": line " + std::to_string(line);
  const Part& part = *std::prev(next);
  return PlaceOf(part.name, {}, line - part.first_line + 1 + part.lines_before);
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : name_(std::move(other.name_)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      of_file_(std::exchange(other.of_file_, false)),
      bytes_(std::exchange(other.bytes_, {})),
      parts_(std::exchange(other.parts_, {})),
      extents_(std::exchange(other.extents_, {})) {}

}  // namespace fathom
