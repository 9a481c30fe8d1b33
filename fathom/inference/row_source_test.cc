#include "fathom/inference/row_source.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "fathom/base/error.h"
#include "fathom/inference/aep_energy.h"
#include "tests/support/random_model.h"
#include "tests/support/ranks_in_threads.h"

namespace fathom {
namespace {

struct Case {
  std::string name;
  bool uncertain = false;
  bool weighted = false;
  Propagation propagation = Propagation::kMoments;
  Index rows = 700;
  Index batch = 530;
};

class RowsOfRanks : public testing::TestWithParam<Case> {
 protected:
  static constexpr double kAlpha = 0.5;

  RowsOfRanks() : stream_(4) {
    model_ = RandomModel(
        {.hidden = {2}, .M = 5, .skip = true, .propagation = GetParam().propagation}, &stream_);
    x_ = Moments::Certain(stream_.NormalMatrix(GetParam().rows, 2));
    if (GetParam().uncertain) x_.var(GetParam().rows / 2, 1) = 0.3;
    y_ = stream_.NormalMatrix(GetParam().rows, 1);
    if (GetParam().weighted) weights_ = RandomPositive(GetParam().rows, 2, &stream_);
    batch_ = stream_.Permutation(GetParam().rows);
    batch_.resize(static_cast<std::size_t>(GetParam().batch));
  }

  struct Answer {
    std::vector<double> values;
    std::vector<Vector> gradients;
    bool operator==(const Answer&) const = default;
  };

  // What rank 0's energy says, twice, and after a failure in between.
  Answer Ask(const AepEnergy& energy) const {
    Answer answer;
    const Vector parameters = Pack(model_, {});
    for (int repeat = 0; repeat < 2; ++repeat) {
      double value = 0;
      Vector gradient;
      std::string reason;
      EXPECT_TRUE(energy.Evaluate(parameters, {batch_, 7}, &value, &gradient, &reason)) << reason;
      answer.values.push_back(value);
      answer.gradients.push_back(gradient);
      EXPECT_FALSE(energy.Evaluate(Vector::Constant(parameters.size(), 1e300), {batch_, 7}, &value,
                                   &gradient, &reason));
    }
    answer.values.push_back(energy.EnergyAt(parameters, batch_).F);
    return answer;
  }

  Answer AskRanks(int size, int threads, double memory = HUGE_VAL) {
    Answer answer;
    RanksInThreads(size).Run([&](const Communicator& ranks) {
      const ThreadPool pool(threads);
      if (ranks.rank() == 0) {
        answer = Ask({model_, ShareRows(x_, y_, weights_, ranks, memory), {.alpha = kAlpha}, pool});
      } else {
        AepEnergy(model_, ReceiveRows(ranks), {.alpha = kAlpha}, pool).Help();
      }
    });
    return answer;
  }

  // Of the same rows, as if they were on a disk.
  RowReader Reader() {
    FactsCollector facts;  // in two blocks
    const Index half = x_.rows() / 2, rest = x_.rows() - half;
    const auto part = [&](Index first, Index count) {
      facts.Add({x_.mean.middleRows(first, count), x_.var.middleRows(first, count)},
                y_.middleRows(first, count),
                weights_.size() > 0 ? Vector(weights_.segment(first, count)) : Vector());
    };
    part(0, half);
    part(half, rest);
    return {facts.facts(), [this](std::span<const Index> rows, FetchedRows* to) {
              const std::vector<Index> picked(rows.begin(), rows.end());
              to->x = {x_.mean(picked, Eigen::all), x_.var(picked, Eigen::all)};
              to->y = y_(picked, Eigen::all);
              if (weights_.size() > 0) to->weights = weights_(picked);
              ++reads_;
            }};
  }

  RandomStream stream_;
  std::atomic<int> reads_ = 0;
  DeepGp model_;
  Moments x_;
  Matrix y_;
  Vector weights_;
  std::vector<Index> batch_;
};

INSTANTIATE_TEST_SUITE_P(Tables, RowsOfRanks,
                         testing::Values(Case{"Certain"}, Case{"Uncertain", true},
                                         Case{"Weighted", true, true},
                                         Case{"Paths", false, false, Propagation::kSamples},
                                         Case{"FewRows", false, true, Propagation::kMoments, 3, 2}),
                         [](const auto& test) { return test.param.name; });

TEST_P(RowsOfRanks, GiveTheEnergyOfAllRowsToTheLastBit) {
  const ThreadPool pool(1);
  const Answer alone = Ask({model_, x_, y_, {.alpha = kAlpha, .weights = weights_}, pool});
  for (const int ranks : {1, 2, 3, 4, 9}) {  // 9 do not share the functions
    for (const int threads : {1, 2}) EXPECT_EQ(AskRanks(ranks, threads), alone) << ranks;
  }
}

TEST_P(RowsOfRanks, GiveTheSameFromAFile) {
  const ThreadPool pool(1);
  const Answer alone = Ask({model_, x_, y_, {.alpha = kAlpha, .weights = weights_}, pool});
  EXPECT_EQ(AskRanks(3, 1, /*memory=*/0), alone);
}

TEST_P(RowsOfRanks, GiveTheSameWhenTheyAreReadAsTheyAreNeeded) {
  const ThreadPool pool(1);
  const Answer alone = Ask({model_, x_, y_, {.alpha = kAlpha, .weights = weights_}, pool});
  for (const bool told : {false, true}) {
    const AepEnergy energy(model_, RowsElsewhere(Reader()), {.alpha = kAlpha}, pool);
    if (told) energy.WillNeed(batch_);
    EXPECT_EQ(Ask(energy), alone);
  }
}

TEST_P(RowsOfRanks, AreReadOnceIfTheyAreToldInTime) {
  const SlotPlan plan{.rows = GetParam().batch};
  auto rows = RowsElsewhere(Reader());
  const std::vector<Index> other = {0, 1};
  FetchedRows memory;
  const auto fetch = [&](std::span<const Index> wanted) {
    const TableRows here = rows->Fetch(wanted, plan, &memory);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_EQ(here.y(here.places[i], 0), y_(wanted[i], 0));
  };
  rows->WillNeed(batch_);
  rows->WillNeed(other);
  fetch(batch_);
  EXPECT_LE(reads_, 2);
  fetch(other);
  EXPECT_EQ(reads_, 2);
  // A step that never comes is forgotten.
  rows->WillNeed(batch_);
  rows->WillNeed(batch_);
  rows->WillNeed(other);
  rows->WillNeed(other);
  fetch(other);
  fetch(batch_);
  rows.reset();  // waits for what was told and never fetched
  EXPECT_EQ(reads_, 7);
}

TEST_P(RowsOfRanks, AFailureToReadIsTold) {
  RowReader reader = Reader();
  reader.read = [](std::span<const Index>, FetchedRows*) { ThrowError("the disk is gone"); };
  const auto rows = RowsElsewhere(reader);
  FetchedRows memory;
  rows->WillNeed(batch_);
  EXPECT_THROW(rows->Fetch(batch_, {.rows = GetParam().batch}, &memory), Error);
  EXPECT_THROW(rows->Fetch(batch_, {.rows = GetParam().batch}, &memory), Error);
}

TEST_P(RowsOfRanks, ReachWhoeverThePlanNames) {
  const SlotPlan plan{.rows = GetParam().batch, .chunk_rows = 16, .slots = 5};
  for (const int size : {2, 3, 7}) {
    RanksInThreads(size).Run([&](const Communicator& ranks) {
      const auto rows = ranks.rank() == 0 ? ShareRows(x_, y_, weights_, ranks) : ReceiveRows(ranks);
      EXPECT_EQ(rows->facts().rows, GetParam().rows);
      FetchedRows memory;
      const TableRows here = rows->Fetch(batch_, plan, &memory);
      for (std::size_t i = 0; i < batch_.size(); ++i) {
        const Index place = here.places[i];
        const int user = RankOfSlot(plan.SlotOf(static_cast<Index>(i)), plan.slots, size);
        ASSERT_EQ(place >= 0, user == ranks.rank());
        if (place < 0) continue;
        EXPECT_EQ(here.x.mean.row(place), x_.mean.row(batch_[i]));
        EXPECT_EQ(here.x.var.row(place), x_.var.row(batch_[i]));
        EXPECT_EQ(here.y.row(place), y_.row(batch_[i]));
        if (weights_.size() > 0) {
          EXPECT_EQ(here.weights[place], weights_[batch_[i]]);
        }
      }
    });
  }
}

}  // namespace
}  // namespace fathom
