#ifndef FATHOM_CLI_ALIGN_H_
#define FATHOM_CLI_ALIGN_H_

#include <string>
#include <vector>

namespace fathom::cli {

// Aligns rows of text under a header: the first and the last column to the left, others right.
std::string Align(const std::vector<std::vector<std::string>>& rows);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_ALIGN_H_
