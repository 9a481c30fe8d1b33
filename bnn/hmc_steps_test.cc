#include "bnn/hmc_steps.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom::bnn {
namespace {

// A tanh network with its posterior.
class TanhTrajectory : public testing::Test {
 protected:
  TanhTrajectory() {
    RandomStream stream(3);
    rows_ = {stream.NormalMatrix(8, 2), Vector(8)};
    for (double& y : rows_.y) y = stream.Normal();
    start_.weights = DrawWeights(Vector::Ones(shape_.num_weights()), &stream);
    start_.momentum = DrawWeights(Vector::Ones(shape_.num_weights()), &stream);
    start_.log_posterior = target_(start_.weights, &start_.gradient);
  }

  HmcPoint Run(double step, int steps) const {
    HmcPoint point = start_;
    for (int i = 0; i < steps; ++i) Leapfrog(target_, mass_, step, &point);
    return point;
  }

  MlpShape shape_{2, {4}, Activation::kTanh};
  Rows rows_;
  Vector mass_ = Vector::LinSpaced(shape_.num_weights(), 0.5, 2);
  HmcTarget target_ = [this](const Vector& w, Vector* gradient) {
    MlpTape tape;
    return EvaluateLogPosterior({shape_, w}, rows_, WeightPrior(Vector::Ones(w.size())), 0.3, &tape,
                                gradient);
  };
  HmcPoint start_;
};

TEST_F(TanhTrajectory, LeadsBackWithTheMomentumReversed) {
  HmcPoint point = Run(0.05, 30);
  EXPECT_GT((point.weights - start_.weights).norm(), 0.5);
  point.momentum = -point.momentum;
  for (int i = 0; i < 30; ++i) Leapfrog(target_, mass_, 0.05, &point);
  EXPECT_LT((point.weights - start_.weights).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((point.momentum + start_.momentum).cwiseAbs().maxCoeff(), 1e-10);
}

TEST_F(TanhTrajectory, ErrorOfTheEnergyFallsWithTheSquareOfTheStep) {
  const auto error = [&](double step, int steps) {
    return Run(step, steps).Hamiltonian(mass_) - start_.Hamiltonian(mass_);
  };
  EXPECT_NEAR(error(0.01, 40) / error(0.005, 80), 4, 0.1);
}

// The posterior of a ReLU network, with forces in either precision.
class ReluTrajectory : public testing::Test {
 protected:
  ReluTrajectory() {
    RandomStream stream(4);
    rows_ = {stream.NormalMatrix(200, 3), stream.NormalMatrix(200, 1)};
    weights_ = DrawWeights(Vector::Ones(shape_.num_weights()), &stream);
    momentum_ = DrawWeights(Vector::Ones(shape_.num_weights()), &stream);
  }

  template <typename SomeRows>
  HmcTarget TargetOf(const SomeRows& rows) const {
    return [this, &rows](const Vector& w, Vector* gradient) {
      MlpTape tape;
      return EvaluateLogPosterior({shape_, w}, rows, WeightPrior(Vector::Ones(w.size())), 0.3,
                                  &tape, gradient);
    };
  }

  void Run(const HmcTarget& target, HmcPoint* point) const {
    point->log_posterior = target(point->weights, &point->gradient);
    for (int i = 0; i < 50; ++i) Leapfrog(target, mass_, 0.01, point);
  }

  // From the start to the end, in double.
  double RiseOfTheEnergy(const HmcTarget& target) const {
    HmcPoint point{.weights = weights_, .momentum = momentum_};
    point.log_posterior = TargetOf(rows_)(point.weights, nullptr);
    const double start = point.Hamiltonian(mass_);
    Run(target, &point);
    point.log_posterior = TargetOf(rows_)(point.weights, nullptr);
    return point.Hamiltonian(mass_) - start;
  }

  MlpShape shape_{3, {5}, Activation::kRelu};
  Rows rows_;
  Vector weights_, momentum_;
  Vector mass_ = Vector::Ones(shape_.num_weights());
};

TEST_F(ReluTrajectory, LeadsBackBySingleForces) {
  const SingleRows single(rows_);
  HmcPoint point{.weights = weights_, .momentum = momentum_};
  Run(TargetOf(single), &point);
  EXPECT_GT((point.weights - weights_).norm(), 0.5);
  point.momentum = -point.momentum;
  Run(TargetOf(single), &point);
  EXPECT_LT((point.weights - weights_).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((point.momentum + momentum_).cwiseAbs().maxCoeff(), 1e-10);
}

TEST_F(ReluTrajectory, ErrorOfTheEnergyIsTheSameBySingleForces) {
  const double by_double = RiseOfTheEnergy(TargetOf(rows_));
  EXPECT_GT(std::abs(by_double), 0.01);
  const SingleRows single(rows_);
  const double by_single = RiseOfTheEnergy(TargetOf(single));
  EXPECT_NEAR(by_single, by_double, 1e-3);
  EXPECT_NE(by_single, by_double);
}

TEST(HmcSteps, AcceptanceOfATrajectoryThatIsNotANumberIsZero) {
  EXPECT_EQ(AcceptanceProbability(1, NAN), 0);
  EXPECT_EQ(AcceptanceProbability(1, HUGE_VAL), 0);
  EXPECT_EQ(AcceptanceProbability(2, 1), 1);
  EXPECT_NEAR(AcceptanceProbability(1, 3), std::exp(-2), 1e-15);
}

TEST(HmcSteps, InverseGammaDrawsHaveItsMoments) {
  RandomStream stream(8);
  const InverseGamma belief{5, 2};
  constexpr int kDraws = 200000;
  double sum = 0;
  double precision = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double v = belief.Draw(&stream);
    sum += v / kDraws;
    precision += 1 / v / kDraws;
  }
  EXPECT_NEAR(sum, 2.0 / 4, 0.005);        // scale / (shape - 1)
  EXPECT_NEAR(precision, 5.0 / 2, 0.015);  // shape / scale
}

TEST(HmcSteps, ConditionalCountsHalfOfTheValuesAndOfTheirSquares) {
  const InverseGamma after = Conditional({1, 0.01}, 12, 3);
  EXPECT_EQ(after.shape, 7);
  EXPECT_EQ(after.scale, 1.51);
}

}  // namespace
}  // namespace fathom::bnn
