// A training step allocates nothing once the first steps have set its memory up. Every way to ask
// the C library for memory is counted here, and with it operator new, Eigen and aligned buffers.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "fathom/base/random.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/model/initialize.h"
#include "fathom/optimize/minimize.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FATHOM_COUNTS_ALLOCATIONS 0  // the sanitizers replace malloc themselves
#else
#define FATHOM_COUNTS_ALLOCATIONS 1
#endif

namespace {
constinit std::atomic<long> allocations{0};
constinit thread_local bool inside_blas = false;

[[maybe_unused]] void Count() {  // by the sanitizers' builds
  if (!inside_blas) ++allocations;
}
}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name)
// OpenBLAS's product of small matrices takes the memory it packs them into from malloc, which is
// its own affair. The linker sends dgemm through here (--wrap).
extern "C" {
int __real_dgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
                  const double*, const int*, const double*, const int*, const double*, double*,
                  const int*);
int __wrap_dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                  const double* alpha, const double* a, const int* lda, const double* b,
                  const int* ldb, const double* beta, double* c, const int* ldc) {
  inside_blas = true;
  const int result = __real_dgemm_(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  inside_blas = false;
  return result;
}
}

#if FATHOM_COUNTS_ALLOCATIONS
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  Count();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  Count();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  Count();
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}
}
#endif
// NOLINTEND(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name)

namespace fathom {
namespace {

TEST(SteadyState, TheCounterSeesEveryKindOfAllocation) {
  if (!FATHOM_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns malloc";
  const long before = allocations;
  const Vector by_eigen = Vector::Zero(1000);
  EXPECT_GT(allocations, before);
  const long after_eigen = allocations;
  const AlignedBuffer aligned(1000);
  EXPECT_GT(allocations, after_eigen);
  const long after_aligned = allocations;
  const std::vector<double> plain(static_cast<std::size_t>(by_eigen.size() + 1));
  EXPECT_GT(allocations, after_aligned);
  EXPECT_EQ(aligned.size() + 1, plain.size());
}

struct SteadyCase {
  const char* name;
  Architecture architecture;
  double alpha;
  bool uncertain_inputs;
};

class SteadyStateOf : public testing::TestWithParam<SteadyCase> {};

TEST_P(SteadyStateOf, AStepAllocatesNothing) {
  if (!FATHOM_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns malloc";
  RandomStream stream(1);
  Moments x = Moments::Certain(stream.NormalMatrix(400, 3));
  if (GetParam().uncertain_inputs) x.var.topRows(200).setConstant(0.1);
  const Matrix y = stream.NormalMatrix(400, 1);
  for (const int threads : {1, 3}) {
    const ThreadPool pool(threads);
    const DeepGp model = Initialize(GetParam().architecture, {}, 1, x.mean, 1);
    const AepEnergy energy(model, x, y, {.alpha = GetParam().alpha}, pool);
    // 107 rows: whole chunks and tiles, and shorter ones at the end. 4 steps are more than an
    // epoch, 30 more than the interval of the snapshots.
    MinimizeState state(Pack(model, energy.packing()));
    constexpr Index kSteps = 30;
    std::array<long, kSteps> after{};
    const ProgressCallback callback = [&](const Progress& progress, const MinimizeState&) {
      after[progress.step - 1] = allocations;
      return progress.step < kSteps;
    };
    Minimize(energy, {.steps = 100, .batch_size = 107}, 1, callback, &state);
    for (Index step = 1; step < kSteps; ++step)
      EXPECT_EQ(after[step] - after[step - 1], 0) << "step " << step + 1 << ", threads " << threads;
  }
}

Architecture Hidden(std::vector<Index> hidden, bool rich) {
  Architecture architecture;
  architecture.hidden = std::move(hidden);
  architecture.inducing = {30, 20};
  architecture.skip_links = rich;
  architecture.linear_mean = rich;
  architecture.shared = rich;
  return architecture;
}

Architecture AlongPaths(Propagation propagation, bool rich) {
  Architecture architecture = Hidden({2, 2}, rich);
  architecture.propagation = propagation;
  architecture.paths = 5;
  return architecture;
}

INSTANTIATE_TEST_SUITE_P(
    Models, SteadyStateOf,
    testing::Values(SteadyCase{"OneLayer", Hidden({}, false), 0.7, false},
                    SteadyCase{"TwoLayers", Hidden({2}, false), 0.7, false},
                    SteadyCase{"ThreeLayers", Hidden({2, 2}, true), 1, false},
                    SteadyCase{"Variational", Hidden({2}, false), 0, false},
                    SteadyCase{"UncertainInputs", Hidden({2}, false), 0.7, true},
                    SteadyCase{"UncertainInputsSkip", Hidden({2, 2}, true), 0.7, true},
                    SteadyCase{"Samples", AlongPaths(Propagation::kSamples, false), 0.7, false},
                    SteadyCase{"SamplesSkip", AlongPaths(Propagation::kSamples, true), 0.7, true},
                    SteadyCase{"Points", AlongPaths(Propagation::kPoints, true), 0.7, false}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace fathom
