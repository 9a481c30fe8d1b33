// Files that are either written completely or not at all.
#ifndef FATHOM_IO_ATOMIC_FILE_H_
#define FATHOM_IO_ATOMIC_FILE_H_

#include <span>
#include <string>
#include <string_view>

namespace fathom {

// Replaces the file at `path`: writes a temporary file beside it, and Commit brings that to disk
// and renames it. Whoever opens `path` at any moment, even after a crash, finds the old or the new
// content, whole. A symbolic link is followed and an existing file keeps its permissions. On file
// systems with unnamed files a killed process leaves nothing behind. Throws Error with the path and
// the system's reason; without a Commit the temporary file is gone and `path` is as before.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(std::string_view bytes);
  void Commit();

 private:
  std::string NextName() const;
  std::string DescriptorPath() const;
  bool OpenWithoutName();
  void OpenWithName();
  void CommitWithoutName();
  void Abandon();  // removes what is not committed
  [[noreturn]] void ThrowCannotWrite(int reason) const;

  std::string path_;       // as the caller names it
  std::string target_;     // behind links
  std::string temporary_;  // empty while the file has no name
  int descriptor_ = -1;
  bool committed_ = false;
};

// All of it at once: the concatenation of `parts`.
void WriteFileAtomically(const std::string& path, std::span<const std::string_view> parts);

}  // namespace fathom

#endif  // FATHOM_IO_ATOMIC_FILE_H_
