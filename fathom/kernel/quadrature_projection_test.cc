#include "fathom/kernel/quadrature_projection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fathom/base/error.h"
#include "tests/support/every_kernel.h"

namespace fathom {
namespace {

// The posterior of a function that was observed, with noise, at its pseudo-inputs.
Function Observed(const Kernel& kernel, Index M, Index D, RandomStream* stream) {
  Function f;
  f.theta = kernel.InitialParameters(D, 1);
  f.Z = stream->NormalMatrix(M, D);
  Matrix K;
  kernel.Gram(f.theta, f.Z, &K);
  const Sites sites{10 * RandomVector(M, stream), 3 * Matrix::Identity(M, M)};
  const Conditioned posterior = Condition(sites, K, 1);
  f.a = posterior.a;
  f.S = posterior.S;
  return f;
}

// Calls visit(x, weight) on a grid of `points` per input over 6 standard deviations: the trapezoid
// rule, whose error is of fourth order for functions with two derivatives.
template <typename Visit>
void ForDenseGrid(const RowVector& mean, const RowVector& std, Index points, const Visit& visit) {
  const Index D = mean.size();
  RowVector x(D);
  const std::function<void(Index, double)> over = [&](Index q, double weight) {
    if (q == D) return visit(x, weight);
    const double step = 12.0 / static_cast<double>(points - 1);
    for (Index i = 0; i < points; ++i) {
      const double t = -6 + step * static_cast<double>(i);
      x[q] = mean[q] + std[q] * t;
      over(q + 1, weight * step * std::exp(-0.5 * t * t) / std::sqrt(2 * std::acos(-1.0)));
    }
  };
  over(0, 1);
}

struct Moment {
  double m, v;
};

Moment Dense(const KernelCase& kernel, const Function& f, const RowVector& mean,
             const RowVector& std, Index points) {
  double total = 0;
  double first = 0;
  double second = 0;
  ForDenseGrid(mean, std, points, [&](const RowVector& x, double weight) {
    double m = 0;
    double v = 0;
    PlainMoments(kernel, f, x, &m, &v);
    total += weight;
    first += weight * m;
    second += weight * (v + m * m);
  });
  EXPECT_NEAR(total, 1, 1e-8);
  return {first, second - first * first};
}

// The larger of the errors of mean and variance, of functions with prior variance 1 and
// lengthscale 1.
double LargestError(const KernelCase& kernel, Index D, double input_var, Index points) {
  RandomStream stream(31);
  const std::shared_ptr<const Kernel> made = MakeKernel(kernel.name);
  double error = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Function f = Observed(*made, 8, D, &stream);
    Moments x = Moments::Certain(stream.NormalMatrix(1, D));
    x.var.setConstant(input_var);
    const Output out = Project(*made, f, x);
    const Moment dense = Dense(kernel, f, x.mean.row(0), x.var.row(0).cwiseSqrt(), points);
    error = std::max({error, std::abs(out.m[0] - dense.m), std::abs(out.v[0] - dense.v)});
  }
  return error;
}

// What is promised in the header: the input's variance in units of the squared lengthscale, and the
// error for it.
TEST(QuadratureProjection, ErrorOfTheMoments) {
  const std::vector<KernelCase> kernels = {{"matern32", Matern32Value},
                                           {"matern52", Matern52Value}};
  for (const KernelCase& kernel : kernels) {
    for (const auto& [D, points] : {std::pair<Index, Index>{1, 501}, {2, 61}, {3, 25}}) {
      for (const auto& [input_var, largest] :
           {std::pair(0.01, 2e-5), std::pair(0.1, 2e-3), std::pair(1.0, 0.1)}) {
        EXPECT_LT(LargestError(kernel, D, input_var, points), largest)
            << kernel.name << ", D " << D << ", var " << input_var;
      }
    }
  }
}

// Where there is a closed form, as for a smooth kernel, quadrature comes close to it.
TEST(QuadratureProjection, AgreesWithClosedForms) {
  for (const char* name : {"se_ard", "se_ard+linear_ard"}) {
    const std::shared_ptr<const Kernel> kernel = MakeKernel(name);
    for (const Index D : {1, 2, 3}) {
      RandomStream stream(32);
      const Function f = RandomFunction(*kernel, 4, D, true, &stream);
      Moments x = Moments::Certain(stream.NormalMatrix(3, D));
      x.var.setConstant(0.1);
      x.var.row(1).setZero();
      const Output closed = Project(*kernel, f, x);
      QuadratureProjection projection(*kernel);
      projection.Prepare(f.View(), {.uncertain = true});
      AlignedBuffer tape(static_cast<std::size_t>(projection.TapeSize(3)));
      Vector m(3);
      Vector v(3);
      projection.Forward({x.mean, x.var}, tape.data(), m.data(), v.data());
      EXPECT_LT((closed.m - m).cwiseAbs().maxCoeff(), 1e-4) << name << " " << D;
      EXPECT_LT((closed.v - v).cwiseAbs().maxCoeff(), 1e-4) << name << " " << D;
    }
  }
}

TEST(QuadratureProjection, TooManyUncertainInputsAreRefused) {
  RandomStream stream(33);
  const std::shared_ptr<const Kernel> kernel = MakeKernel("matern52");
  EXPECT_EQ(kernel->MostUncertainInputs(), 3);
  const Function f = RandomFunction(*kernel, 3, 5, false, &stream);
  Moments x = Moments::Certain(stream.NormalMatrix(2, 5));
  x.var.row(1).head(3).setConstant(0.1);
  EXPECT_NO_THROW(Project(*kernel, f, x));
  x.var.row(1).setConstant(0.1);
  try {
    Project(*kernel, f, x);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("matern52"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("here are 5"), std::string::npos);
  }
}

}  // namespace
}  // namespace fathom
