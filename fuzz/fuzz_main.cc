// Under libFuzzer: the environment variable FATHOM_FUZZ names the target.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/target.h"

namespace {

const fathom::fuzz::Target& Wanted() {
  const char* const wanted = std::getenv("FATHOM_FUZZ");
  for (const fathom::fuzz::Target& target : fathom::fuzz::Targets()) {
    if (wanted != nullptr && target.name == wanted) return target;
  }
  std::fprintf(stderr, "FATHOM_FUZZ must name a target:");
  for (const fathom::fuzz::Target& target : fathom::fuzz::Targets())
    std::fprintf(stderr, " %s", target.name.c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fathom::fuzz::Target& target = Wanted();
  fathom::fuzz::Run(target, {reinterpret_cast<const char*>(data), size});
  return 0;
}
