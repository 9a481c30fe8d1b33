#include "fathom/kernel/kernel.h"

#include <charconv>

#include "fathom/base/error.h"
#include "fathom/kernel/linear_ard.h"
#include "fathom/kernel/se_ard.h"
#include "fathom/kernel/spectral_mixture.h"

namespace fathom {

Index Kernel::NumParameters(Index input_dim) const {
  Index total = 0;
  for (const Block& block : Blocks(input_dim)) total += block.size;
  return total;
}

void Kernel::Gram(const Vector& theta, const Matrix& Z, Matrix* K) const {
  AlignedBuffer scratch;
  Gram(theta, Z, K, &scratch);
}

namespace {

Index ParseComponents(const std::string& name, std::size_t begin) {
  Index components = 0;
  const char* end = name.data() + name.size();
  const auto [stop, code] = std::from_chars(name.data() + begin, end, components);
  if (code != std::errc() || stop != end || components < 1 ||
      components > SpectralMixture::kMostComponents) {
    ThrowError("kernel '", name, "': the number of components must be from 1 to ",
               SpectralMixture::kMostComponents, ", as in spectral_mixture:3");
  }
  return components;
}

}  // namespace

std::shared_ptr<const Kernel> MakeKernel(const std::string& name) {
  if (name == "se_ard") return std::make_shared<SeArd>();
  if (name == "linear_ard") return std::make_shared<LinearArd>();
  if (name == "spectral_mixture") return std::make_shared<SpectralMixture>();
  const std::string counted = "spectral_mixture:";
  if (name.rfind(counted, 0) == 0)
    return std::make_shared<SpectralMixture>(ParseComponents(name, counted.size()));
  ThrowError("kernel '", name,
             "' is not known; the kernels are: se_ard, linear_ard, spectral_mixture (or, with "
             "three components, spectral_mixture:3)");
}

}  // namespace fathom
