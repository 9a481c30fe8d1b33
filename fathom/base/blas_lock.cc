// Debian's serial OpenBLAS is built without locks: two threads that enter it at once can be handed
// the same scratch buffer, and then return wrong numbers without a word (about 3 % of the
// concurrent 120 x 120 Cholesky factors were wrong on 2 cores; see blas_test.cc). The linker option
// --wrap sends its two scratch functions through here, where a mutex guards them; nothing else in
// its BLAS is shared between calls. The lock is held for tens of nanoseconds, a few times per BLAS
// call. It cannot guard a shared OpenBLAS, which is why the build insists on the static one.
//
// A second fault is cured here: where OpenBLAS cannot have its 128 MB for a buffer, it asks again
// for ever. So a buffer that would be new is asked for first, and given back. If there is no room,
// an exception goes up through the frames of OpenBLAS, which then hold nothing and can be unwound
// like our own.
#include <pthread.h>
#include <sys/mman.h>

#include <cstddef>
#include <mutex>
#include <new>

#include "fathom/base/blas_kernels.h"

namespace {

// Before OpenBLAS is initialised, which happens at the usual priority when the program is loaded.
// It stands here because this file is linked into every program that has OpenBLAS.
[[gnu::constructor(101)]] void BeforeOpenBlas() { fathom::ChooseBlasKernels(); }

constinit std::mutex scratch_mutex;
constinit int taken = 0;       // buffers that are in use
constinit int most_taken = 0;  // which OpenBLAS keeps

// Throws std::bad_alloc unless there is room for one more buffer.
void RequireRoom() {
  constexpr std::size_t kBufferBytes = std::size_t{129} << 20;
  void* const room = ::mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, kBufferBytes);
}

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
  if (taken == most_taken) {
    RequireRoom();
    ++most_taken;
  }
  ++taken;
  return __real_blas_memory_alloc(procedure);
}

void __wrap_blas_memory_free(void* buffer) {
  const std::lock_guard lock(scratch_mutex);
  --taken;
  __real_blas_memory_free(buffer);
}
}
// NOLINTEND(bugprone-reserved-identifier)
