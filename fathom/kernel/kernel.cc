#include "fathom/kernel/kernel.h"

#include "fathom/base/error.h"
#include "fathom/kernel/se_ard.h"

namespace fathom {

Index Kernel::NumParameters(Index input_dim) const {
  Index total = 0;
  for (const Block& block : Blocks(input_dim)) total += block.size;
  return total;
}

std::shared_ptr<const Kernel> MakeKernel(const std::string& name) {
  if (name == "se_ard") return std::make_shared<SeArd>();
  ThrowError("kernel '", name, "' is not known; the kernels are: se_ard");
}

}  // namespace fathom
