// A training step allocates nothing once the first steps have set its memory up. Every way to ask
// the C library for memory is counted here, and with it operator new, Eigen and aligned buffers.
#include <gtest/gtest.h>

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
}  // namespace

#if FATHOM_COUNTS_ALLOCATIONS
// NOLINTBEGIN(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}
}
// NOLINTEND(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name)
#endif

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

struct Case {
  const char* name;
  Architecture architecture;
  double alpha;
  bool uncertain_inputs;
};

class SteadyStateOf : public testing::TestWithParam<Case> {};

TEST_P(SteadyStateOf, AStepAllocatesNothing) {
  if (!FATHOM_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns malloc";
  RandomStream stream(1);
  Moments x = Moments::Certain(stream.NormalMatrix(400, 3));
  if (GetParam().uncertain_inputs) x.var.topRows(200).setConstant(0.1);
  const Matrix y = stream.NormalMatrix(400, 1);
  for (const int threads : {1, 3}) {
    const ThreadPool pool(threads);
    const DeepGp model = Initialize(GetParam().architecture, {}, x.mean, 1);
    const AepEnergy energy(model, x, y, {.alpha = GetParam().alpha}, pool);
    // 107 rows: whole chunks and tiles, and shorter ones at the end. 4 steps are more than an
    // epoch, 30 more than the interval of the snapshots.
    MinimizeState state(Pack(model, energy.packing()));
    long after_first = 0;
    const ProgressCallback callback = [&](const Progress& progress, const MinimizeState&) {
      if (progress.step == 1) after_first = allocations;
      EXPECT_EQ(allocations, after_first) << "step " << progress.step;
      return progress.step < 30;
    };
    Minimize(energy, {.steps = 100, .batch_size = 107}, callback, &state);
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

INSTANTIATE_TEST_SUITE_P(Models, SteadyStateOf,
                         testing::Values(Case{"OneLayer", Hidden({}, false), 0.7, false},
                                         Case{"TwoLayers", Hidden({2}, false), 0.7, false},
                                         Case{"ThreeLayers", Hidden({2, 2}, true), 1, false},
                                         Case{"Variational", Hidden({2}, false), 0, false},
                                         Case{"UncertainInputs", Hidden({2}, false), 0.7, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace fathom
