// Runs every target on the files of CORPUS/target, and on each of them with one byte changed, so
// that `make test` needs no libFuzzer. Prints how many inputs there were.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fathom/base/random.h"
#include "fuzz/target.h"

namespace {

constexpr int kChanges = 20;  // of each file

void Replay(const fathom::fuzz::Target& target, std::string bytes) {
  fathom::fuzz::Run(target, bytes);
  fathom::RandomStream stream(bytes.size() + 1);
  for (int k = 0; k < kChanges && !bytes.empty(); ++k) {
    char& byte =
        bytes[static_cast<std::size_t>(stream.Below(static_cast<fathom::Index>(bytes.size())))];
    const char before = byte;
    byte = static_cast<char>(stream.Below(256));
    fathom::fuzz::Run(target, bytes);
    byte = before;
  }
  fathom::fuzz::Run(target, bytes.substr(0, bytes.size() / 2));
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2) {
    std::fprintf(stderr, "usage: fathom_fuzz_replay CORPUS\n");
    return 2;
  }
  for (const fathom::fuzz::Target& target : fathom::fuzz::Targets()) {
    int files = 0;
    const fs::path folder = fs::path(argv[1]) / target.name;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      Replay(target, {std::istreambuf_iterator<char>(file), {}});
      ++files;
    }
    std::printf("%-12s %d files, %d inputs\n", target.name.c_str(), files, files * (kChanges + 2));
    if (files == 0) return 1;
  }
}
