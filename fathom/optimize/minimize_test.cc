#include "fathom/optimize/minimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fathom/base/error.h"

namespace fathom {
namespace {

// The mean over the batch of 1/2 |x - target_n|^2, plus a hook that may let an evaluation fail.
class Quadratic : public Objective {
 public:
  explicit Quadratic(Matrix targets) : targets_(std::move(targets)) {}

  Index num_parameters() const override { return targets_.cols(); }
  Index num_rows() const override { return targets_.rows(); }
  bool Evaluate(const Vector& parameters, const Batch& batch, double* value, Vector* gradient,
                std::string* reason) const override {
    ++calls;
    batches.emplace_back(batch.rows.begin(), batch.rows.end());
    points.push_back(parameters);
    if (fails && fails(calls, parameters)) {
      *reason = "the hook says no";
      return false;
    }
    *value = 0;
    gradient->setZero(parameters.size());
    for (const Index n : batch.rows) {
      const Vector miss = parameters - targets_.row(n).transpose();
      *value += 0.5 * miss.squaredNorm() / static_cast<double>(batch.rows.size());
      *gradient += miss / static_cast<double>(batch.rows.size());
    }
    return true;
  }

  std::function<bool(int call, const Vector& parameters)> fails;
  mutable int calls = 0;
  mutable std::vector<std::vector<Index>> batches;
  mutable std::vector<Vector> points;

 private:
  Matrix targets_;
};

Matrix Targets() {
  Matrix targets(10, 2);
  for (Index n = 0; n < 10; ++n)
    targets.row(n) << 3 + 0.1 * static_cast<double>(n), -1 - 0.2 * static_cast<double>(n % 3);
  return targets;
}

constexpr std::uint64_t kSeed = 1;

MinimizeOptions Options(Index steps) {
  MinimizeOptions options;
  options.steps = steps;
  options.learning_rate = 0.1;
  options.warm_up = 10;
  options.patience = 0;
  return options;
}

TEST(Minimize, FindsTheMinimum) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  const Summary summary = Minimize(objective, Options(1000), kSeed, nullptr, &state);
  EXPECT_EQ(summary.reason, StopReason::kFinished);
  EXPECT_EQ(summary.steps, 1000);
  EXPECT_EQ(summary.recoveries, 0);
  EXPECT_LT((state.parameters - Targets().colwise().mean().transpose()).norm(), 1e-3);
}

TEST(Minimize, FindsTheMinimumOnBatches) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  MinimizeOptions options = Options(2000);
  options.batch_size = 3;
  Minimize(objective, options, kSeed, nullptr, &state);
  EXPECT_LT((state.parameters - Targets().colwise().mean().transpose()).norm(), 0.05);
}

TEST(Minimize, NoStepsChangeNothing) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Constant(2, 0.5));
  const Summary summary = Minimize(objective, Options(0), kSeed, nullptr, &state);
  EXPECT_EQ(summary.reason, StopReason::kFinished);
  EXPECT_EQ(objective.calls, 0);
  EXPECT_EQ(state.parameters, Vector::Constant(2, 0.5));
}

TEST(Minimize, BatchesOfAnEpochCoverTheTableOnce) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  MinimizeOptions options = Options(20);
  options.batch_size = 2;
  Minimize(objective, options, kSeed, nullptr, &state);
  ASSERT_EQ(objective.batches.size(), 20);
  std::vector<std::vector<Index>> epochs;
  for (std::size_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<Index> rows;
    for (std::size_t b = 0; b < 5; ++b) {
      const std::vector<Index>& batch = objective.batches[5 * epoch + b];
      EXPECT_EQ(batch.size(), 2);
      rows.insert(rows.end(), batch.begin(), batch.end());
    }
    epochs.push_back(rows);
    std::sort(rows.begin(), rows.end());
    for (Index n = 0; n < 10; ++n) EXPECT_EQ(rows[n], n);
  }
  EXPECT_NE(epochs[0], epochs[1]) << "each epoch has its own order";
}

TEST(Minimize, ARemainderIsLeftOutButNotAlwaysTheSame) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  MinimizeOptions options = Options(300);
  options.batch_size = 4;
  Minimize(objective, options, kSeed, nullptr, &state);
  std::map<Index, int> seen;
  for (const auto& batch : objective.batches) {
    EXPECT_EQ(batch.size(), 4);
    for (const Index n : batch) ++seen[n];
  }
  EXPECT_EQ(seen.size(), 10);
  for (const auto& [row, count] : seen) EXPECT_GT(count, 80) << "of 120: row " << row;
}

TEST(Minimize, ABatchLargerThanTheTableIsTheTable) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  Minimize(objective, Options(2), kSeed, nullptr, &state);
  EXPECT_EQ(objective.batches[1].size(), 10);
}

TEST(Minimize, AContinuedRunHasTheBitsOfAnUninterruptedOne) {
  for (const Index stop : {1, 17, 60}) {
    const Quadratic objective(Targets());
    MinimizeOptions options = Options(100);
    options.batch_size = 3;
    MinimizeState whole(Vector::Zero(2));
    Minimize(objective, options, kSeed, nullptr, &whole);

    MinimizeState state(Vector::Zero(2));
    const Summary summary = Minimize(
        objective, options, kSeed,
        [stop](const Progress& progress, const MinimizeState&) { return progress.step < stop; },
        &state);
    EXPECT_EQ(summary.reason, StopReason::kInterrupted);
    EXPECT_EQ(state.step, stop);
    MinimizeState copy = state;
    Minimize(objective, options, kSeed, nullptr, &copy);
    EXPECT_EQ(copy.parameters, whole.parameters);
    EXPECT_EQ(copy.smoothed, whole.smoothed);
    EXPECT_EQ(copy.step, whole.step);
  }
}

TEST(Minimize, ARunContinuedBeforeAFailureRecoversToTheSameBits) {
  // The wall stands where the run arrives after step 25, between two points to fall back to.
  const auto wall = [](int, const Vector& x) { return x[0] > 2; };
  Quadratic objective(Targets());
  objective.fails = wall;
  MinimizeOptions options = Options(60);
  options.max_recoveries = 100;
  MinimizeState whole(Vector::Zero(2));
  Minimize(objective, options, kSeed, nullptr, &whole);
  ASSERT_GE(whole.recoveries, 1);
  for (Index stop = 1; stop < 60; ++stop) {
    MinimizeState state(Vector::Zero(2));
    Minimize(
        objective, options, kSeed,
        [stop](const Progress& progress, const MinimizeState&) { return progress.step != stop; },
        &state);
    Minimize(objective, options, kSeed, nullptr, &state);
    EXPECT_EQ(state.parameters, whole.parameters) << "stopped at " << stop;
    EXPECT_EQ(state.recoveries, whole.recoveries);
  }
}

TEST(Minimize, AFurtherRunHasAScheduleOfItsOwnAndNewBatches) {
  const Quadratic objective(Targets());
  MinimizeOptions options = Options(20);
  options.batch_size = 5;
  MinimizeState first(Vector::Zero(2));
  Minimize(objective, options, kSeed, nullptr, &first);
  MinimizeState second(first.parameters, first.step);
  std::vector<double> rates;
  const Summary summary = Minimize(
      objective, options, kSeed,
      [&](const Progress& progress, const MinimizeState&) {
        rates.push_back(progress.rate);
        return true;
      },
      &second);
  EXPECT_EQ(summary.steps, 40);
  ASSERT_EQ(rates.size(), 20U);
  EXPECT_NEAR(rates[0], 0.01, 1e-9);
  EXPECT_LT(rates[19], 1e-3);
  EXPECT_NE(objective.batches[20], objective.batches[0]);
}

TEST(Minimize, GoesBackAfterAFailureWithHalfTheRate) {
  Quadratic objective(Targets());
  objective.fails = [](int call, const Vector&) { return call == 31 || call == 32; };
  MinimizeState state(Vector::Zero(2));
  std::vector<Index> back_at;
  const Summary summary =
      Minimize(objective, Options(500), kSeed, nullptr, &state,
               [&](const MinimizeState& recovered) { back_at.push_back(recovered.step); });
  EXPECT_EQ(back_at, (std::vector<Index>{25, 25}));
  EXPECT_EQ(summary.reason, StopReason::kFinished);
  EXPECT_EQ(summary.recoveries, 2);
  EXPECT_EQ(state.rate_scale, 0.25);
  EXPECT_EQ(state.step, 500);
  // Call 31 is step 30; the state of step 25 is taken up again.
  EXPECT_EQ(objective.points[31], objective.points[25]);
  EXPECT_LT((state.parameters - Targets().colwise().mean().transpose()).norm(), 0.1);
}

TEST(Minimize, GivesUpOnAnObjectiveThatAlwaysFails) {
  Quadratic objective(Targets());
  objective.fails = [](int, const Vector&) { return true; };
  MinimizeState state(Vector::Constant(2, 0.5));
  MinimizeOptions options = Options(100);
  options.max_recoveries = 3;
  const Summary summary = Minimize(objective, options, kSeed, nullptr, &state);
  EXPECT_EQ(summary.reason, StopReason::kNumericalFailure);
  EXPECT_NE(summary.message.find("the hook says no"), std::string::npos) << summary.message;
  EXPECT_NE(summary.message.find("step 0"), std::string::npos) << summary.message;
  EXPECT_NE(summary.message.find("lower the learning rate"), std::string::npos) << "what to do";
  EXPECT_EQ(summary.steps, 0);
  EXPECT_EQ(objective.calls, 4);
  EXPECT_EQ(state.parameters, Vector::Constant(2, 0.5));
}

TEST(Minimize, AfterGivingUpHoldsParametersThatWork) {
  Quadratic objective(Targets());
  // There is a wall before the minimum.
  objective.fails = [](int, const Vector& x) { return x[0] > 2; };
  MinimizeState state(Vector::Zero(2));
  const Summary summary = Minimize(objective, Options(1000), kSeed, nullptr, &state);
  EXPECT_EQ(summary.reason, StopReason::kNumericalFailure);
  EXPECT_LE(state.parameters[0], 2);
  EXPECT_GT(state.parameters[0], 0);
}

TEST(Minimize, StopsOnAPlateau) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  MinimizeOptions options = Options(100000);
  options.patience = 50;
  options.cool_down = 20;
  std::vector<double> rates;
  const Summary summary = Minimize(
      objective, options, kSeed,
      [&](const Progress& progress, const MinimizeState&) {
        rates.push_back(progress.rate);
        return true;
      },
      &state);
  EXPECT_EQ(summary.reason, StopReason::kConverged);
  EXPECT_LT(summary.steps, 2000);
  EXPECT_EQ(state.step - state.cool_down_from, 20);
  EXPECT_LT((state.parameters - Targets().colwise().mean().transpose()).norm(), 0.01);
  EXPECT_LT(rates.back(), 0.11 * rates[rates.size() - 30]) << "the rate is brought down first";
}

TEST(Minimize, WarmsUpAndDecays) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  std::vector<double> rates;
  Minimize(
      objective, Options(200), kSeed,
      [&](const Progress& progress, const MinimizeState&) {
        rates.push_back(progress.rate);
        EXPECT_EQ(progress.step, static_cast<Index>(rates.size()));
        EXPECT_EQ(progress.steps, 200);
        return true;
      },
      &state);
  ASSERT_EQ(rates.size(), 200);
  EXPECT_NEAR(rates[0], 0.01, 1e-9);
  EXPECT_GT(rates[10], 0.099);
  EXPECT_NEAR(rates[100], 0.05, 1e-9);
  EXPECT_LT(rates[199], 1e-4);
}

TEST(Minimize, WithoutDecayTheRateStays) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  MinimizeOptions options = Options(40);
  options.decay = false;
  Vector rates(40);
  Minimize(
      objective, options, kSeed,
      [&](const Progress& progress, const MinimizeState&) {
        rates[progress.step - 1] = progress.rate;
        return true;
      },
      &state);
  EXPECT_LT(rates[0], 0.1);
  EXPECT_EQ(rates.tail(30), Vector::Constant(30, 0.1));
}

TEST(Minimize, EndsWithItsTime) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  MinimizeOptions options = Options(1000000);
  options.time_budget = 1e-9;
  const Summary summary = Minimize(objective, options, kSeed, nullptr, &state);
  EXPECT_EQ(summary.reason, StopReason::kTimeBudget);
  EXPECT_LE(summary.steps, 1);
}

TEST(Minimize, TimeOfAnEarlierRunCounts) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  state.seconds = 100;
  MinimizeOptions options = Options(10);
  options.time_budget = 50;
  EXPECT_EQ(Minimize(objective, options, kSeed, nullptr, &state).reason, StopReason::kTimeBudget);
  EXPECT_EQ(state.step, 0);
}

TEST(Minimize, RefusesOptionsOutOfRange) {
  const Quadratic objective(Targets());
  MinimizeState state(Vector::Zero(2));
  MinimizeOptions options = Options(-1);
  EXPECT_THROW(Minimize(objective, options, kSeed, nullptr, &state), Error);
  options = Options(1);
  options.batch_size = 0;
  EXPECT_THROW(Minimize(objective, options, kSeed, nullptr, &state), Error);
  options = Options(1);
  options.learning_rate = 0;
  EXPECT_THROW(Minimize(objective, options, kSeed, nullptr, &state), Error);
}

}  // namespace
}  // namespace fathom
