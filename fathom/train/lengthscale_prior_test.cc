#include "fathom/train/lengthscale_prior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random_model.h"

namespace fathom {
namespace {

// Half the squared distance from the origin.
class Bowl : public Objective {
 public:
  explicit Bowl(Index parameters) : parameters_(parameters) {}
  Index num_parameters() const override { return parameters_; }
  Index num_rows() const override { return 1; }
  bool Evaluate(const Vector& parameters, const Batch& /*batch*/, double* value, Vector* gradient,
                std::string* /*reason*/) const override {
    *value = parameters.squaredNorm() / 2;
    if (gradient != nullptr) *gradient = parameters;
    return true;
  }

 private:
  Index parameters_;
};

// The energy is minus the log prior per row away from the bowl, for every lengthscale and nothing
// else; those that a layer shares count once.
TEST(LengthscalePrior, IsThatOfEveryLengthscale) {
  RandomStream stream(3);
  for (const bool shared : {false, true}) {
    DeepGp model = RandomModel({.inputs = 3, .hidden = {2}, .shared = shared}, &stream);
    model.layers[1].gps[0].kernel = MakeKernel("se_ard+linear_ard");
    model.layers[1].gps[0].theta = RandomPositive(5, 1, &stream);
    const Packing packing;
    const Bowl bowl(NumUnconstrained(model, packing));
    constexpr double kSd = 0.5;
    constexpr double kRows = 20;
    const WithLengthscalePrior objective(bowl, model, packing, kSd, kRows);

    const auto squared = [](const Vector& lengthscales, double inputs) {
      return (lengthscales.array().log() - 0.5 * std::log(inputs)).square().sum();
    };
    double distance = squared(model.layers[1].gps[0].theta.segment(1, 2), 2);
    for (Index d = 0; d < (shared ? 1 : 2); ++d)
      distance += squared(model.layers[0].gps[d].theta.tail(3), 3);
    const Vector at = Pack(model, packing);
    double value = 0;
    Vector gradient;
    std::string reason;
    ASSERT_TRUE(objective.Evaluate(at, std::vector<Index>{0}, &value, &gradient, &reason));
    EXPECT_NEAR(value - at.squaredNorm() / 2, distance / (2 * kSd * kSd * kRows), 1e-12);

    const auto value_at = [&](const Vector& parameters) {
      double other = 0;
      objective.Evaluate(parameters, std::vector<Index>{0}, &other, nullptr, &reason);
      return other;
    };
    for (Index i = 0; i < at.size(); ++i) {
      constexpr double kStep = 1e-4;
      Vector up = at, down = at;
      up[i] += kStep;
      down[i] -= kStep;
      EXPECT_NEAR(gradient[i], (value_at(up) - value_at(down)) / (2 * kStep), 1e-8) << i;
    }
  }
}

TEST(LengthscalePrior, OfNoWidthIsNone) {
  RandomStream stream(4);
  const DeepGp model = RandomModel({}, &stream);
  const Bowl bowl(NumUnconstrained(model));
  const WithLengthscalePrior objective(bowl, model, {}, 0, 10);
  const Vector at = Pack(model, {});
  double value = 0;
  std::string reason;
  ASSERT_TRUE(objective.Evaluate(at, std::vector<Index>{0}, &value, nullptr, &reason));
  EXPECT_EQ(value, at.squaredNorm() / 2);
}

}  // namespace
}  // namespace fathom
