#ifndef FATHOM_CLI_ALIGN_H_
#define FATHOM_CLI_ALIGN_H_

#include <string>
#include <vector>

namespace fathom::cli {

// Rows of text under a header, columns aligned; the first one and the last one to the left.
std::string Align(const std::vector<std::vector<std::string>>& rows);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_ALIGN_H_
