#include "fathom/data/target_nature.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/random.h"

namespace fathom {
namespace {

template <typename Make>
TargetNature Nature(Index rows, const Make& make) {
  RandomStream stream(1);
  Vector y(rows);
  for (Index n = 0; n < rows; ++n) y[n] = make(&stream);
  return NatureOf(y);
}

TEST(TargetNature, OfTwoValues) {
  const TargetNature nature =
      Nature(300, [](RandomStream* s) { return s->Uniform() < 0.3 ? 7.5 : 2; });
  EXPECT_TRUE(nature.has_two_values());
  EXPECT_EQ(nature.common, 2);
  EXPECT_NE(Describe(nature).find("two values, 2 and 7.5; 66"), std::string::npos)
      << Describe(nature);
}

TEST(TargetNature, OfCounts) {
  const TargetNature nature =
      Nature(300, [](RandomStream* s) { return std::floor(std::exp(0.8 * s->Normal())); });
  EXPECT_TRUE(nature.is_count());
  EXPECT_EQ(nature.step, 1);
  EXPECT_TRUE(nature.has_frequent_value());
  EXPECT_EQ(Describe(nature).find("counts from 0 to "), 0U) << Describe(nature);
}

TEST(TargetNature, OfZerosAndOthers) {
  const TargetNature nature = Nature(
      400, [](RandomStream* s) { return s->Uniform() < 0.85 ? 0.0 : std::exp(s->Normal()); });
  EXPECT_EQ(nature.step, 0);
  EXPECT_EQ(nature.common, 0);
  EXPECT_NEAR(nature.common_share, 0.85, 0.05);
  EXPECT_TRUE(nature.has_frequent_value());
}

TEST(TargetNature, OfNumbers) {
  const TargetNature plain = Nature(300, [](RandomStream* s) { return 5 + s->Normal(); });
  EXPECT_EQ(plain.step, 0);
  EXPECT_FALSE(plain.skewed || plain.bounded || plain.has_frequent_value());
  EXPECT_TRUE(Nature(300, [](RandomStream* s) { return std::exp(s->Normal()); }).skewed);
  EXPECT_TRUE(Nature(300, [](RandomStream* s) { return s->Uniform(); }).bounded);
  // Rounded so finely that it does not matter, and to steps that do.
  const auto rounded = [](double unit) {
    return [=](RandomStream* s) { return std::round(s->Normal() / unit) * unit; };
  };
  EXPECT_EQ(Nature(2000, rounded(0.01)).step, 0);
  EXPECT_NEAR(Nature(300, rounded(0.5)).step, 0.5, 1e-9);
  EXPECT_NEAR(Nature(300, rounded(0.7)).step, 0.7, 1e-9);
  EXPECT_EQ(Nature(300, rounded(0.2)).step, 0) << "many values that are not whole";
}

TEST(TargetNature, OfASingleValue) {
  EXPECT_EQ(Describe(NatureOf(Vector::Constant(5, 3))), "always 3");
}

TEST(TargetNature, IgnoresMissingCells) {
  const Vector target = (Vector(5) << 3, std::nan(""), 1, std::nan(""), 2).finished();
  const TargetNature nature = NatureOf(target);
  EXPECT_EQ(nature.rows, 3);
  EXPECT_EQ(nature.distinct, 3);
  EXPECT_EQ(nature.least, 1);
  EXPECT_EQ(nature.most, 3);
  EXPECT_EQ(NatureOf(Vector::Constant(4, std::nan(""))).rows, 0);
}

}  // namespace
}  // namespace fathom
