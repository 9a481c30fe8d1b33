#include "fuzz/target.h"

#include <new>

#include "fathom/base/error.h"

namespace fathom::fuzz {

std::vector<Target>& Targets() {
  static std::vector<Target> targets;
  return targets;
}

void Run(const Target& target, std::string_view bytes) {
  try {
    target.run(bytes);
  } catch (const Error&) {
  } catch (const NumericalError&) {
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace fathom::fuzz
