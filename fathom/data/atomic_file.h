// Files that are either written completely or not at all.
#ifndef FATHOM_DATA_ATOMIC_FILE_H_
#define FATHOM_DATA_ATOMIC_FILE_H_

#include <span>
#include <string>
#include <string_view>

namespace fathom {

// Replaces the file at `path` by the concatenation of `parts`: writes a temporary file beside it,
// brings it to disk and renames it. Whoever opens `path` at any moment, even after a crash, finds
// the old or the new content, whole. A symbolic link is followed and an existing file keeps its
// permissions. On file systems with unnamed files a killed process leaves nothing behind. Throws
// Error with the path and the system's reason; then the temporary file is gone
// and `path` is as before.
void WriteFileAtomically(const std::string& path, std::span<const std::string_view> parts);

}  // namespace fathom

#endif  // FATHOM_DATA_ATOMIC_FILE_H_
