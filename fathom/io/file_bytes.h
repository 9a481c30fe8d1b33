// The bytes of a file, readable in place.
#ifndef FATHOM_IO_FILE_BYTES_H_
#define FATHOM_IO_FILE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

class ScratchFile;

// Maps a regular file into memory, so that its text takes no memory of ours; reads anything else
// (a pipe, or "-" for standard input) once. A file must not shrink while it is mapped: the system
// ends a process that touches what is gone. Throws Error if the file is missing, unreadable or a
// directory.
class FileBytes {
 public:
  explicit FileBytes(const std::string& path);
  // Bytes that somebody else keeps, under a name for messages.
  FileBytes(std::string name, std::string_view bytes) : name_(std::move(name)), bytes_(bytes) {}
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  FileBytes(FileBytes&& other) noexcept;

  // A regular file that is not packed, as by the constructor. Any other goes through the disk: what
  // comes through a pipe, and what gzip data unpack to, is written to a file in `folder` that
  // nobody sees, and takes no memory.
  static FileBytes ThroughDisk(const std::string& path, const std::string& folder);

  // Files that stand one after the other in the bytes.
  struct Part {
    std::string name;
    Index first_line = 1;    // of the bytes, where the part begins
    Index lines_before = 0;  // of the part, which are not among the bytes
  };
  // A file as the system knows it. Two processes that see the same have the same bytes before them,
  // on one host or on a disk that hosts share.
  struct Identity {
    std::uint64_t inode = 0, size = 0;
    std::int64_t modified = 0;  // nanoseconds
    bool operator==(const Identity&) const = default;
  };
  // Bytes that stand in a file which other processes can open.
  struct Extent {
    std::string path;
    Identity identity;
    std::size_t place = 0;   // where they stand among our bytes
    std::size_t offset = 0;  // where they stand in the file
    std::size_t size = 0;
  };
  // What `file` holds, which need not outlive this. The extents say where it was copied from.
  static FileBytes OfParts(const std::string& name, const ScratchFile& file,
                           std::vector<Part> parts, std::vector<Extent> extents);
  // "table.csv: line 17", or "part-2.csv: line 4" if there are parts.
  static std::string PlaceOf(const std::string& name, std::span<const Part> parts, Index line);
  const std::vector<Part>& parts() const { return parts_; }

  // If the bytes are gzip, by their content, replaces them by what they unpack to. Throws Error if
  // they are damaged or end early.
  void Unpack();

  std::string_view bytes() const { return bytes_; }
  // In their order. Bytes in none of them came through a pipe or were unpacked.
  const std::vector<Extent>& extents() const { return extents_; }
  // Gives back the memory behind `part` where it can be had again from the file, for a reader that
  // has passed it and comes back later. Text elsewhere, such as a copy in another form, stays.
  void Release(std::string_view part) const;
  // Gives back the memory behind `part`, which nobody will read again.
  void Discard(std::string_view part) const;
  // The path, or "standard input": how messages call the file.
  const std::string& name() const { return name_; }

 private:
  // Empty: of `name`, to be mapped later.
  struct Nothing {};
  FileBytes(std::string name, Nothing /*tag*/) : name_(std::move(name)) {}
  void Load(int descriptor);
  // False if the descriptor is no regular file with something in it.
  bool Map(int descriptor);
  // The same for a file that others can open by this path.
  bool Map(int descriptor, const std::string& path);
  // Memory of our own that can grow without being copied.
  void Grow(std::size_t size);
  void Unmap();
  bool Holds(std::string_view part) const;

  std::string name_;
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;  // bytes of the mapping
  bool of_file_ = false;    // the mapping is the file itself
  std::string_view bytes_;
  std::vector<Part> parts_;
  std::vector<Extent> extents_;
};

}  // namespace fathom

#endif  // FATHOM_IO_FILE_BYTES_H_
