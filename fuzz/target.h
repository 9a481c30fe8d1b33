// How a fuzz target is written: a function of bytes that must neither crash nor hang, whatever they
// are. An Error is a good answer. fuzz_main.cc runs the targets under libFuzzer, replay_main.cc on
// files.
#ifndef FATHOM_FUZZ_TARGET_H_
#define FATHOM_FUZZ_TARGET_H_

#include <string>
#include <string_view>
#include <vector>

namespace fathom::fuzz {

struct Target {
  std::string name;
  void (*run)(std::string_view bytes);  // of a file
};

// All targets of the program.
std::vector<Target>& Targets();

// Runs the target on the bytes. Takes Error, NumericalError and a lack
// of memory for answers; everything else goes on to the caller.
void Run(const Target& target, std::string_view bytes);

struct Registration {
  explicit Registration(const Target& target) { Targets().push_back(target); }
};

}  // namespace fathom::fuzz

#define FATHOM_FUZZ_TARGET(name)                                                     \
  static void Fuzz_##name(std::string_view bytes);                                   \
  static const fathom::fuzz::Registration registration_##name({#name, Fuzz_##name}); \
  static void Fuzz_##name(std::string_view bytes)

#endif  // FATHOM_FUZZ_TARGET_H_
