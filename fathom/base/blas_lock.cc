// Debian's serial OpenBLAS is built without locks: two threads that enter it at once can be handed
// the same scratch buffer, and then return wrong numbers without a word (about 3 % of the
// concurrent 120 x 120 Cholesky factors were wrong on 2 cores; see blas_test.cc). The linker option
// --wrap sends its two scratch functions through here, where a mutex guards them; nothing else in
// its BLAS is shared between calls. The lock is held for tens of nanoseconds, a few times per BLAS
// call. It cannot guard a shared OpenBLAS, which is why the build insists on the static one.
#include <pthread.h>

#include <mutex>

namespace {
constinit std::mutex scratch_mutex;

// A fork while another thread holds the lock would leave it locked in the new process for ever.
[[maybe_unused]] const int kHeldDuringForks = pthread_atfork(
    [] { scratch_mutex.lock(); }, [] { scratch_mutex.unlock(); }, [] { scratch_mutex.unlock(); });
}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker prescribes these names.
extern "C" {
void* __real_blas_memory_alloc(int procedure);
void __real_blas_memory_free(void* buffer);

void* __wrap_blas_memory_alloc(int procedure) {
  const std::lock_guard lock(scratch_mutex);
  return __real_blas_memory_alloc(procedure);
}

void __wrap_blas_memory_free(void* buffer) {
  const std::lock_guard lock(scratch_mutex);
  __real_blas_memory_free(buffer);
}
}
// NOLINTEND(bugprone-reserved-identifier)
