// A file for what does not fit into memory, or might not.
#ifndef FATHOM_IO_SCRATCH_FILE_H_
#define FATHOM_IO_SCRATCH_FILE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace fathom {

// The folder for temporary files: TMPDIR, or /var/tmp, which is a disk where /tmp may be memory.
std::string ScratchFolder();

// A new file in `folder`, which is gone with the object, or with a process that is killed, unless
// it is kept. Throws Error with the folder, `what` it was to hold, and the system's reason.
class ScratchFile {
 public:
  explicit ScratchFile(std::string folder, std::string what);
  // The same in memory, for bytes that fit there after all.
  static ScratchFile InMemory();
  // An existing file, to be read only.
  static ScratchFile Open(const std::string& path, std::string what);
  ~ScratchFile();
  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void Write(std::string_view bytes);  // at the end
  void Clear();
  std::uint64_t size() const;
  // Fills [to, to + size) from there. Any number of threads may read.
  void Read(std::uint64_t offset, void* to, std::size_t size) const;
  // Brings it to disk under this name, replacing what was called so.
  void KeepAs(const std::string& path);
  int descriptor() const { return descriptor_; }
  bool in_memory() const { return in_memory_; }

 private:
  ScratchFile(std::string place, std::string what, int descriptor)
      : place_(std::move(place)), what_(std::move(what)), descriptor_(descriptor) {}
  [[noreturn]] void ThrowCannotWrite(int reason) const;

  std::string place_, what_;  // for messages
  std::string name_;          // empty while the file has none
  int descriptor_ = -1;
  bool in_memory_ = false;
  std::deque<std::string> memory_;  // kMemoryPart bytes each, but for the last one
};

}  // namespace fathom

#endif  // FATHOM_IO_SCRATCH_FILE_H_
