// The bytes of a file, readable in place.
#ifndef FATHOM_IO_FILE_BYTES_H_
#define FATHOM_IO_FILE_BYTES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "fathom/base/export.h"

namespace fathom FATHOM_PUBLIC {

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

  // If the bytes are gzip, by their content, replaces them by what they unpack to. Throws Error if
  // they are damaged or end early.
  void Unpack();

  std::string_view bytes() const { return bytes_; }
  // Gives back the memory behind `part` where it can be had again from the file, for a reader that
  // has passed it and comes back later. Text elsewhere, such as a copy in another form, stays.
  void Release(std::string_view part) const;
  // Gives back the memory behind `part`, which nobody will read again.
  void Discard(std::string_view part) const;
  // The path, or "standard input": how messages call the file.
  const std::string& name() const { return name_; }

 private:
  void Load(int descriptor);
  // Memory of our own that can grow without being copied.
  void Grow(std::size_t size);
  void Unmap();
  bool Holds(std::string_view part) const;

  std::string name_;
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;  // bytes of the mapping
  bool of_file_ = false;    // the mapping is the file itself
  std::string_view bytes_;
};

}  // namespace fathom

#endif  // FATHOM_IO_FILE_BYTES_H_
