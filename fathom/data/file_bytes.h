// The bytes of a file, readable in place.
#ifndef FATHOM_DATA_FILE_BYTES_H_
#define FATHOM_DATA_FILE_BYTES_H_

#include <string>
#include <string_view>

namespace fathom {

// Maps a regular file into memory, so that its text takes no memory of ours; reads anything else
// (a pipe, or "-" for standard input) once. A file must not shrink while it is mapped: the system
// ends a process that touches what is gone. Throws Error if the file is missing, unreadable or a
// directory.
class FileBytes {
 public:
  explicit FileBytes(const std::string& path);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::string_view bytes() const { return bytes_; }
  // Gives back the memory behind `part`, for a reader that has passed it; it can still be read, at
  // a cost.
  void Release(std::string_view part) const;
  // The path, or "standard input": how messages call the file.
  const std::string& name() const { return name_; }

 private:
  void Load(int descriptor);

  std::string name_;
  void* mapping_ = nullptr;
  std::string buffer_;
  std::string_view bytes_;
};

}  // namespace fathom

#endif  // FATHOM_DATA_FILE_BYTES_H_
