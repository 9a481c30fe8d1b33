// Files of experiments/, which are part of the library, so that an installed program has them too.
#ifndef FATHOM_STUDY_EMBEDDED_H_
#define FATHOM_STUDY_EMBEDDED_H_

#include <span>
#include <string_view>

namespace fathom {

struct EmbeddedFile {
  std::string_view path;  // below experiments/, such as "uci.toml" and "published/regression.toml"
  std::string_view text;
};

std::span<const EmbeddedFile> EmbeddedFiles();

// The state of the source that the library was built from, as 'git describe' says; "unknown" where
// it could not.
std::string_view BuildCommit();

}  // namespace fathom

#endif  // FATHOM_STUDY_EMBEDDED_H_
