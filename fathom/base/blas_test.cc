// The engine calls BLAS from all of its threads at once. A serial OpenBLAS hands out scratch
// buffers from one table, so two calls at once are safe only if something guards that table
// (blas_lock.cc does). This test proves it for the library that is linked: every concurrent result
// must equal the serial one bit for bit.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "fathom/base/blas_kernels.h"
#include "fathom/base/random.h"
#include "fathom/base/types.h"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda,
             int* info);
}

namespace fathom {
namespace {

constexpr int kThreads = 4;
constexpr Index kSize = 120;

struct Results {
  Matrix product;
  Matrix factor;
  Matrix solution;
  Matrix inverse_factor;

  bool operator==(const Results&) const = default;
};

// What the engine asks of the library: gemm, syrk, trsm (inside Eigen's blocked Cholesky and
// solve), and OpenBLAS's own Cholesky and triangular inverse.
Results Compute(const Matrix& A, const Matrix& B) {
  Results results;
  results.product.noalias() = A * B;
  Matrix K = Matrix::Identity(kSize, kSize);
  K.selfadjointView<Eigen::Lower>().rankUpdate(A);
  const Eigen::LLT<Matrix> llt(K.selfadjointView<Eigen::Lower>());
  results.factor = llt.matrixL();
  results.solution = llt.solve(B);
  const int n = kSize;
  int info = 0;
  results.inverse_factor = K;
  dpotrf_("U", &n, results.inverse_factor.data(), &n, &info);
  if (info == 0) dtrtri_("U", "N", &n, results.inverse_factor.data(), &n, &info);
  if (info != 0) results.inverse_factor.setConstant(info);
  return results;
}

TEST(Blas, ConcurrentCallsGiveTheBitsOfSerialCalls) {
  constexpr int kRepeats = 400;
  constexpr int kProblems = 8;
  RandomStream stream(11);
  std::vector<Matrix> A, B;
  std::vector<Results> serial;
  for (int i = 0; i < kProblems; ++i) {
    A.push_back(stream.NormalMatrix(kSize, kSize));
    B.push_back(stream.NormalMatrix(kSize, kSize));
    serial.push_back(Compute(A.back(), B.back()));
  }
  std::atomic<int> different{0};
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // All threads enter BLAS together, on different problems, so that shared scratch would show.
      ready.fetch_add(1);
      while (ready.load() < kThreads) std::this_thread::yield();
      for (int repeat = 0; repeat < kRepeats; ++repeat) {
        const int i = (repeat + 3 * t) % kProblems;
        if (!(Compute(A[i], B[i]) == serial[i])) different.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different.load(), 0) << "of " << kThreads * kRepeats << " concurrent computations";
}

TEST(Blas, KernelsUseTheVectorsOfTheProcessor) {
#ifdef __x86_64__
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) GTEST_SKIP() << "OPENBLAS_CORETYPE is set";
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    GTEST_SKIP() << "the processor has no AVX2";
  EXPECT_NE(BlasKernels(), "Prescott");
#endif
  EXPECT_FALSE(BlasKernels().empty());
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE"), nullptr);
}

}  // namespace
}  // namespace fathom
