// Files of experiments/ that the program brings along, so that an installed one has them too.
#ifndef FATHOM_CLI_EMBEDDED_H_
#define FATHOM_CLI_EMBEDDED_H_

#include <span>
#include <string_view>

namespace fathom::cli {

struct EmbeddedFile {
  std::string_view path;  // below experiments/, such as "uci.toml" and "published/uci.toml"
  std::string_view text;
};

std::span<const EmbeddedFile> EmbeddedFiles();

// The state of the source that the program was built from, as 'git describe' says; "unknown" where
// it could not.
std::string_view BuildCommit();

}  // namespace fathom::cli

#endif  // FATHOM_CLI_EMBEDDED_H_
