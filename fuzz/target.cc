#include "fuzz/target.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include "fathom/base/error.h"
#include "fathom/io/write_all.h"

namespace fathom::fuzz {

std::vector<Target>& Targets() {
  static std::vector<Target> targets;
  return targets;
}

void Run(const Target& target, std::string_view bytes) {
  const int file = ::memfd_create("fuzz", 0);
  if (file < 0 || !WriteAll(file, bytes)) throw std::runtime_error("no file in memory");
  try {
    target.run("/proc/self/fd/" + std::to_string(file));
  } catch (const Error&) {
  } catch (const NumericalError&) {
  } catch (const std::bad_alloc&) {
  }
  ::close(file);
}

}  // namespace fathom::fuzz
