#include "fathom/base/blas_kernels.h"

#include <cstdlib>
#include <string_view>

extern "C" {
char* openblas_get_corename();
// What OpenBLAS runs when it is loaded and unloaded. The first does nothing if kernels are chosen.
void gotoblas_dynamic_init();
void gotoblas_dynamic_quit();
}

namespace fathom {

namespace {

// The best kernels for the vectors of this processor, or null where OpenBLAS's choice stands.
const char* KernelsByVectors() {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

}  // namespace

void ChooseBlasKernels() {
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  gotoblas_dynamic_init();
  if (std::getenv(kVariable) != nullptr || BlasKernels() != "Prescott") return;
  const char* const better = KernelsByVectors();
  if (better == nullptr) return;
  // No function takes a name, so it goes through the environment, which is then as before.
  gotoblas_dynamic_quit();
  ::setenv(kVariable, better, 1);
  gotoblas_dynamic_init();
  ::unsetenv(kVariable);
}

std::string BlasKernels() { return openblas_get_corename(); }

}  // namespace fathom
