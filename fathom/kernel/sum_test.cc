#include "fathom/kernel/sum.h"

#include <gtest/gtest.h>

#include "fathom/kernel/quadrature_projection.h"
#include "tests/support/every_kernel.h"

namespace fathom {
namespace {

Moments SomeRows(Index D, RandomStream* stream) {
  Moments x = Moments::Certain(stream->NormalMatrix(6, D));
  AddInputVariance(stream, &x);
  return x;
}

// How far m and v, with one part of theta made tiny, are from those of the other part alone.
void ExpectLimit(Index vanishing_begin, Index vanishing_size, const std::string& other,
                 Index other_begin) {
  const Index D = 2;
  RandomStream stream(21);
  const std::shared_ptr<const Kernel> sum = MakeKernel("se_ard+linear_ard");
  for (const bool linear_mean : {false, true}) {
    Function f = RandomFunction(*sum, 5, D, linear_mean, &stream);
    f.theta.segment(vanishing_begin, vanishing_size).setConstant(1e-14);
    const std::shared_ptr<const Kernel> rest = MakeKernel(other);
    Function alone = f;
    alone.theta = f.theta.segment(other_begin, rest->NumParameters(D));
    const Moments x = SomeRows(D, &stream);
    const Output together = Project(*sum, f, x);
    const Output apart = Project(*rest, alone, x);
    EXPECT_LT((together.m - apart.m).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((together.v - apart.v).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(Sum, WithoutLinearVarianceItIsSeArd) { ExpectLimit(3, 2, "se_ard", 0); }
TEST(Sum, WithoutSeVarianceItIsLinear) { ExpectLimit(0, 1, "linear_ard", 3); }

// A second kind of the same kernel adds its variance, and only that.
TEST(Sum, OfAKernelWithItselfIsThatKernelScaled) {
  RandomStream stream(22);
  const std::shared_ptr<const Kernel> one = MakeKernel("matern32");
  const std::shared_ptr<const Kernel> two = MakeKernel("matern32+matern32");
  Function f = RandomFunction(*one, 4, 2, true, &stream);
  Function doubled = f;
  doubled.theta.resize(6);
  doubled.theta << 0.25 * f.theta[0], f.theta.tail(2), 0.75 * f.theta[0], f.theta.tail(2);
  const Moments x = SomeRows(2, &stream);
  const Output a = Project(*one, f, x);
  const Output b = Project(*two, doubled, x);
  EXPECT_LT((a.m - b.m).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((a.v - b.v).cwiseAbs().maxCoeff(), 1e-14);
}

}  // namespace
}  // namespace fathom
