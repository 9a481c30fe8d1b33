#include "fathom/kernel/kernel.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "fathom/base/error.h"
#include "tests/support/every_kernel.h"
#include "tests/support/gradient.h"

namespace fathom {
namespace {

// Differences take small steps, because a spectral mixture's variances are of order 1/40.
constexpr double kKernelStep = 1e-4;

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel, testing::ValuesIn(kKernels), [](const auto& test) {
  std::string name = test.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == '+'; }, '_');
  return name;
});

TEST_P(EveryKernel, HasItsNameAndCountsItsParameters) {
  EXPECT_EQ(kernel_->Name(), GetParam().name);
  for (const Index D : {1, 3}) {
    Index total = 0;
    for (const Kernel::Block& block : kernel_->Blocks(D)) total += block.size;
    EXPECT_EQ(kernel_->NumParameters(D), total);
    EXPECT_GT(total, 0);
  }
}

TEST_P(EveryKernel, StartsWithFunctionsOfUnitSize) {
  for (const Index D : {1, 4}) {
    const double reach = std::sqrt(static_cast<double>(D));
    const Vector theta = kernel_->InitialParameters(D, reach);
    ASSERT_EQ(theta.size(), kernel_->NumParameters(D));
    EXPECT_GT(theta.minCoeff(), 0);
    const RowVector ones = RowVector::Ones(D);  // at distance `reach` from the origin
    EXPECT_NEAR(GetParam().value(theta, ones, ones), 1, 1e-12);
    // A shorter lengthscale: the same step changes more.
    const Vector shorter = kernel_->InitialParameters(D, 0.5 * reach);
    const auto change = [&](const Vector& at) {
      const auto k = GetParam().value;
      return k(at, ones, ones) - 2 * k(at, ones, 1.3 * ones) + k(at, 1.3 * ones, 1.3 * ones);
    };
    EXPECT_GT(change(shorter), 1.5 * change(theta));
  }
}

TEST(Kernel, UnknownNameIsRefusedWithTheKnownOnes) {
  try {
    MakeKernel("rbf");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'rbf'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("se_ard"), std::string::npos);
  }
}

TEST(Kernel, SumsHaveTheirPartsInTheirName) {
  EXPECT_EQ(MakeKernel("se+linear")->Name(), "se_ard+linear_ard");
  EXPECT_EQ(MakeKernel("linear+matern32+se")->Name(), "matern32+se_ard+linear_ard");
  const std::vector<Kernel::Block> blocks = MakeKernel("se+linear")->Blocks(3);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[1].name, "se_ard.lengthscales");
  EXPECT_EQ(blocks[2].name, "linear_ard.variances");
  EXPECT_EQ(blocks[2].size, 3);
  for (const char* name : {"+", "se+", "+se", "se++linear", "se+rbf", "se + linear",
                           "se+se+se+se+se+se+se+se+se+se+se"}) {
    EXPECT_THROW(MakeKernel(name), Error) << name;
  }
}

TEST(Kernel, SpectralMixtureHasItsNumberOfComponentsInItsName) {
  EXPECT_EQ(MakeKernel("spectral_mixture:2")->Name(), "spectral_mixture");
  EXPECT_EQ(MakeKernel("spectral_mixture")->NumParameters(3), 2 + 2 * 6);
  EXPECT_EQ(MakeKernel("spectral_mixture:5")->NumParameters(3), 5 + 2 * 15);
  for (const char* name : {"spectral_mixture:", "spectral_mixture:0", "spectral_mixture:-1",
                           "spectral_mixture:2x", "spectral_mixture:101", "spectral_mixture 2"}) {
    EXPECT_THROW(MakeKernel(name), Error) << name;
  }
}

TEST_P(EveryKernel, GramIsItsDefinition) {
  RandomStream stream(1);
  for (const Index D : {1, 2, 7}) {
    const Function f = RandomFunction(*kernel_, 5, D, false, &stream);
    Matrix K;
    kernel_->Gram(f.theta, f.Z, &K);
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < 5; ++j)
        EXPECT_NEAR(K(i, j), GetParam().value(f.theta, f.Z.row(i), f.Z.row(j)), 1e-14);
    }
  }
}

TEST_P(EveryKernel, CrossAndDiagonalAreItsDefinition) {
  RandomStream stream(1);
  for (const Index D : {1, 3}) {
    const Function f = RandomFunction(*kernel_, 5, D, false, &stream);
    const Matrix X = stream.NormalMatrix(4, D);
    Matrix K(4, 5);
    Vector diagonal(4);
    kernel_->Cross(f.theta, X, f.Z, K);
    kernel_->Diagonal(f.theta, X, diagonal);
    for (Index n = 0; n < 4; ++n) {
      EXPECT_NEAR(diagonal[n], GetParam().value(f.theta, X.row(n), X.row(n)), 1e-14);
      for (Index i = 0; i < 5; ++i)
        EXPECT_NEAR(K(n, i), GetParam().value(f.theta, X.row(n), f.Z.row(i)), 1e-14);
    }
  }
}

// The variance of f(x + h e_d) - f(x - h e_d), without its terms of higher order in h.
TEST_P(EveryKernel, SlopeVarianceAgainstDifferences) {
  RandomStream stream(2);
  const Function f = RandomFunction(*kernel_, 1, 3, false, &stream);
  const Vector slopes = kernel_->SlopeVariance(f.theta, 3);
  ASSERT_EQ(slopes.size(), 3);
  for (Index d = 0; d < 3; ++d) {
    const auto difference = [&](double h) {
      RowVector low = RowVector::Zero(3), high = low;
      low[d] = -h;
      high[d] = h;
      const auto k = GetParam().value;
      return (k(f.theta, high, high) - 2 * k(f.theta, high, low) + k(f.theta, low, low)) /
             (4 * h * h);
    };
    const double h = 1e-2;
    const double extrapolated = (difference(h) - 6 * difference(h / 2) + 8 * difference(h / 4)) / 3;
    EXPECT_NEAR(extrapolated, slopes[d], 1e-5 * slopes[d]);
  }
}

TEST_P(EveryKernel, CrossAndDiagonalBackward) {
  RandomStream stream(3);
  const Index N = 4, M = 3, D = 2;
  const Function f = RandomFunction(*kernel_, M, D, false, &stream);
  const Matrix X = stream.NormalMatrix(N, D);
  const Matrix dK = stream.NormalMatrix(N, M);
  const Vector d_diagonal = RandomVector(N, &stream);
  const Index parameters = f.theta.size();
  Vector point(parameters + N * D + M * D);
  point << f.theta, X.reshaped<Eigen::RowMajor>(), f.Z.reshaped<Eigen::RowMajor>();
  const auto value = [&](const Vector& at) {
    const Matrix x = Eigen::Map<const Matrix>(at.data() + parameters, N, D);
    const Matrix Z = Eigen::Map<const Matrix>(at.data() + parameters + N * D, M, D);
    Matrix K(N, M);
    Vector diagonal(N);
    kernel_->Cross(at.head(parameters), x, Z, K);
    kernel_->Diagonal(at.head(parameters), x, diagonal);
    return K.cwiseProduct(dK).sum() + d_diagonal.dot(diagonal);
  };
  Matrix K(N, M);
  kernel_->Cross(f.theta, X, f.Z, K);
  Vector d_theta = Vector::Zero(parameters);
  Matrix dX = Matrix::Zero(N, D);
  Matrix dZ = Matrix::Zero(M, D);
  Eigen::Ref<Matrix> dX_ref(dX);
  kernel_->CrossBackward(f.theta, X, f.Z, K, dK, {d_theta, &dX_ref, dZ});
  kernel_->DiagonalBackward(f.theta, X, d_diagonal, d_theta, &dX_ref);
  Vector gradient(point.size());
  gradient << d_theta, dX.reshaped<Eigen::RowMajor>(), dZ.reshaped<Eigen::RowMajor>();
  ExpectGradientMatches(value, gradient, point, 1e-8, nullptr, kKernelStep);
}

// A kernel's own derivatives against the differences that serve those without.
TEST_P(EveryKernel, DerivativesAlongAnInput) {
  RandomStream stream(14);
  const Function f = RandomFunction(*kernel_, 5, 3, false, &stream);
  const Matrix X = stream.NormalMatrix(4, 3);
  for (Index q = 0; q < 3; ++q) {
    Kernel::Along own;
    Kernel::Along differences;
    kernel_->CrossAlong(f.theta, X, f.Z, q, &own);
    kernel_->Kernel::CrossAlong(f.theta, X, f.Z, q, &differences);
    EXPECT_LT((own.first - differences.first).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_LT((own.second - differences.second).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LT((own.diagonal_second - differences.diagonal_second).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST_P(EveryKernel, GramBackward) {
  RandomStream stream(2);
  for (const Index D : {1, 3}) {
    const Index M = 5;
    Function f = RandomFunction(*kernel_, M, D, false, &stream);
    f.Z.row(3) = f.Z.row(1);  // coincident
    const Matrix dK = RandomSymmetric(M, &stream);
    const Index parameters = f.theta.size();
    Vector point(parameters + f.Z.size());
    point << f.theta, Eigen::Map<const Vector>(f.Z.data(), f.Z.size());
    const auto value = [&](const Vector& x) {
      const Matrix Z = Eigen::Map<const Matrix>(x.data() + parameters, M, D);
      Matrix K;
      kernel_->Gram(x.head(parameters), Z, &K);
      return K.cwiseProduct(dK).sum();
    };
    Matrix K;
    kernel_->Gram(f.theta, f.Z, &K);
    Vector d_theta = Vector::Zero(parameters);
    Matrix dZ = Matrix::Zero(M, D);
    AlignedBuffer scratch;
    kernel_->GramBackward(f.theta, f.Z, K, dK, {d_theta, dZ}, &scratch);
    Vector gradient(point.size());
    gradient << d_theta, Eigen::Map<const Vector>(dZ.data(), dZ.size());
    ExpectGradientMatches(value, gradient, point, 1e-8, nullptr, kKernelStep);
    // It adds.
    kernel_->GramBackward(f.theta, f.Z, K, dK, {d_theta, dZ}, &scratch);
    EXPECT_NEAR(d_theta[0], 2 * gradient[0], 1e-12);
    EXPECT_NEAR(dZ(0, 0), 2 * gradient[parameters], 1e-12);
  }
}

}  // namespace
}  // namespace fathom
