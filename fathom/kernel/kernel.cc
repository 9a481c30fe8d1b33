#include "fathom/kernel/kernel.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
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
                          GramGradient gradient, AlignedBuffer* /*scratch*/) const {
  Eigen::Ref<Matrix> both(gradient.Z);  // Z stands on both sides
  CrossBackward(theta, Z, Z, K, dK, {gradient.theta, &both, both});
}

// Differences of fourth order: their error is h^4 k^(5)/30 and h^4 k^(6)/90, and rounding.
void Kernel::CrossAlong(const Vector& theta, const Rows& X, const Matrix& Z, Index input,
                        Along* out) const {
  constexpr double h = 0.004;
  constexpr double kWeights1[] = {0, 8.0 / 12, -1.0 / 12};
  constexpr double kWeights2[] = {-30.0 / 12, 16.0 / 12, -1.0 / 12};
  out->first.setZero(X.rows(), Z.rows());
  out->second.setZero(X.rows(), Z.rows());
  out->diagonal_second.setZero(X.rows());
  Matrix K(X.rows(), Z.rows());
  Vector k(X.rows());
  for (int step = -2; step <= 2; ++step) {
    const int size = std::abs(step);
    Matrix moved = X;
    moved.col(input).array() += step * h;
    Cross(theta, moved, Z, K);
    Diagonal(theta, moved, k);
    out->first += (step < 0 ? -kWeights1[size] : kWeights1[size]) / h * K;
    out->second += kWeights2[size] / (h * h) * K;
    out->diagonal_second += kWeights2[size] / (h * h) * k;
  }
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

// A kernel of Fathom, or null.
std::shared_ptr<const Kernel> MakeOurs(const std::string& name) {
  if (name == "se_ard" || name == "se") return std::make_shared<SeArd>();
  if (name == "linear_ard" || name == "linear") return std::make_shared<LinearArd>();
  if (name == "matern32") return std::make_shared<Matern32>();
  if (name == "matern52") return std::make_shared<Matern52>();
  if (name == "spectral_mixture") return std::make_shared<SpectralMixture>();
  const std::string counted = "spectral_mixture:";
  if (name.rfind(counted, 0) == 0)
    return std::make_shared<SpectralMixture>(ParseComponents(name, counted.size()));
  return nullptr;
}

struct Registered {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels;
};

Registered& Theirs() {
  static Registered registered;
  return registered;
}

}  // namespace

std::shared_ptr<const Kernel> MakeKernel(const std::string& name) {
  if (name.find('+') != std::string::npos) return MakeSum(name);
  if (std::shared_ptr<const Kernel> ours = MakeOurs(name)) return ours;
  Registered& theirs = Theirs();
  const std::lock_guard lock(theirs.mutex);
  const auto found = theirs.kernels.find(name);
  if (found != theirs.kernels.end()) return found->second;
  std::string registered;
  for (const auto& [kind, kernel] : theirs.kernels) registered += kind + ", ";
  ThrowError("kernel '", name,
             "' is not known; the kernels are: se_ard, linear_ard, matern32, matern52, "
             "spectral_mixture (or, with three components, spectral_mixture:3), ",
             registered, "and sums such as se_ard+linear_ard");
}

void RegisterKernel(std::shared_ptr<const Kernel> kernel) {
  const std::string name = kernel->Name();
  if (name.empty() || name.find('+') != std::string::npos)
    ThrowError("a kernel's name has no '+' in it, which is for sums; '", name, "' cannot be one");
  if (MakeOurs(name) != nullptr)
    ThrowError("a kernel of fathom is called '", name, "'; give yours another name");
  Registered& theirs = Theirs();
  const std::lock_guard lock(theirs.mutex);
  theirs.kernels[name] = std::move(kernel);
}

}  // namespace fathom
