#include "study/embedded.h"

#include "fathom_commit.h"  // made by cmake/embed.cmake, as is embedded_files.inc

namespace fathom {

namespace {

constexpr EmbeddedFile kFiles[] = {
#include "embedded_files.inc"
};

}  // namespace

std::span<const EmbeddedFile> EmbeddedFiles() { return kFiles; }

std::string_view BuildCommit() { return FATHOM_COMMIT; }

}  // namespace fathom
