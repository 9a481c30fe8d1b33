#include "fathom/distribution/observation.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/poisson.hpp>
#include <cmath>

namespace fathom {
namespace {

TailFunction Poisson(double rate, int* calls = nullptr) {
  const auto tail = [rate, calls](double t, bool upper) {
    if (calls != nullptr) ++*calls;
    if (t < 0) return upper ? 1.0 : 0.0;
    const boost::math::poisson_distribution<> poisson(rate);
    return upper ? cdf(complement(poisson, t)) : cdf(poisson, t);
  };
  return {tail, true, rate, std::sqrt(rate)};
}

// The definition, term by term.
double CrpsByDefinition(const TailFunction& f, double y) {
  double sum = 0;
  for (double t = 0; t < y + 200; ++t) sum += std::pow(f.tail(t, t >= y), 2);
  return sum;
}

TEST(TailFunction, CrpsOfCountsIsTheSum) {
  for (const double rate : {0.3, 7.0, 40.0}) {
    for (const double y : {0.0, 1.0, 5.0, 40.0, 300.0})
      EXPECT_NEAR(Poisson(rate).Crps(y), CrpsByDefinition(Poisson(rate), y), 1e-6)
          << rate << " " << y;
  }
}

TEST(TailFunction, CrpsOfCountsCostsTheSameForAnyTarget) {
  int near = 0, far = 0;
  Poisson(7, &near).Crps(7);
  const double crps = Poisson(7, &far).Crps(1e15);
  EXPECT_LT(far, 3 * near);
  EXPECT_NEAR(crps / 1e15, 1, 1e-12);
  int below = 0;
  EXPECT_NEAR(Poisson(1e6, &below).Crps(0), 1e6, 1e3);
  EXPECT_LT(below, 20000);
}

TEST(TailFunction, APointMassHasOneQuantile) {
  const auto step = [](double t, bool upper) { return (t < 3) == upper ? 1.0 : 0.0; };
  const TailFunction point{step, false, 3, 0};
  EXPECT_EQ(point.Quantile(0.1), 3);
  EXPECT_EQ(point.Quantile(0.9), 3);
  EXPECT_EQ(point.Crps(5), 2);
}

TEST(TailFunction, NaNComesOutAsNaN) {
  const auto nan = [](double, bool) { return std::nan(""); };
  EXPECT_TRUE(std::isnan(TailFunction{nan, false, std::nan(""), 1}.Quantile(0.5)));
  EXPECT_TRUE(std::isnan(TailFunction{nan, false, std::nan(""), 1}.Crps(1)));
  EXPECT_TRUE(std::isnan(TailFunction{nan, true, std::nan(""), 1}.Crps(1)));
  TailFunction{nan, false, 0, 1}.Crps(1);  // ends
  TailFunction{nan, true, 0, 1}.Crps(1);
  TailFunction{nan, false, 0, 1}.Crps(std::nan(""));
}

}  // namespace
}  // namespace fathom
