#include "fathom/kernel/kernel.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/kernel/full_layer.h"
#include "fathom/kernel/linear_ard.h"
#include "fathom/kernel/matern.h"
#include "fathom/kernel/se_ard.h"
#include "fathom/kernel/spectral_mixture.h"
#include "fathom/kernel/sum.h"

namespace fathom {

Index Kernel::NumParameters(Index input_dim) const {
  Index total = 0;
  for (const Block& block : Blocks(input_dim)) total += block.size;
  return total;
}

std::unique_ptr<FullLayer> Kernel::NewFullLayer() const { return nullptr; }

void Kernel::Gram(const Vector& theta, const Matrix& Z, Matrix* K,
                  AlignedBuffer* /*scratch*/) const {
  K->resize(Z.rows(), Z.rows());
  Cross(theta, Z, Z, *K);
}

void Kernel::GramBackward(const Vector& theta, const Matrix& Z, const Matrix& K, const Matrix& dK,
                          Vector* d_theta, Matrix* dZ, AlignedBuffer* /*scratch*/) const {
  Eigen::Ref<Matrix> both(*dZ);  // Z stands on both sides
  CrossBackward(theta, Z, Z, K, dK, *d_theta, &both, both);
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

std::shared_ptr<const Kernel> MakeSum(const std::string& name) {
  constexpr std::ptrdiff_t kMostParts = 10;
  if (std::count(name.begin(), name.end(), '+') >= kMostParts)
    ThrowError("kernel '", name, "': a sum has at most ", kMostParts, " parts");
  std::vector<std::shared_ptr<const Kernel>> parts;
  std::size_t begin = 0;
  for (std::size_t plus = 0; plus != std::string::npos; begin = plus + 1) {
    plus = name.find('+', begin);
    parts.push_back(MakeKernel(name.substr(begin, plus - begin)));
  }
  return std::make_shared<Sum>(std::move(parts));
}

}  // namespace

std::shared_ptr<const Kernel> MakeKernel(const std::string& name) {
  if (name.find('+') != std::string::npos) return MakeSum(name);
  if (name == "se_ard" || name == "se") return std::make_shared<SeArd>();
  if (name == "linear_ard" || name == "linear") return std::make_shared<LinearArd>();
  if (name == "matern32") return std::make_shared<Matern32>();
  if (name == "matern52") return std::make_shared<Matern52>();
  if (name == "spectral_mixture") return std::make_shared<SpectralMixture>();
  const std::string counted = "spectral_mixture:";
  if (name.rfind(counted, 0) == 0)
    return std::make_shared<SpectralMixture>(ParseComponents(name, counted.size()));
  ThrowError("kernel '", name,
             "' is not known; the kernels are: se_ard, linear_ard, matern32, matern52, "
             "spectral_mixture (or, with three components, spectral_mixture:3), and sums such as "
             "se_ard+linear_ard");
}

}  // namespace fathom
