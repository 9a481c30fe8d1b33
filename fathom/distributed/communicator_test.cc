#include "fathom/distributed/communicator.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/ranks_in_threads.h"

namespace fathom {
namespace {

class Together : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Together, testing::Values(1, 2, 3, 5));

TEST_P(Together, FailsEverywhereIfOneRankFailsWithTheReasonOfTheLowest) {
  const int last = GetParam() - 1;
  RanksInThreads(GetParam()).Run([&](const Communicator& ranks) {
    EXPECT_NO_THROW(DoTogether(ranks, [] {}));
    std::string reason;
    try {
      DoTogether(ranks, [&] {
        if (ranks.rank() >= last - 1) throw NumericalError("at " + std::to_string(ranks.rank()));
      });
    } catch (const NumericalError& error) {
      reason = error.what();
    }
    EXPECT_NE(reason, "");
    if (ranks.rank() == 0) {
      EXPECT_EQ(reason, "at " + std::to_string(std::max(last - 1, 0)));
    }
    EXPECT_FALSE(ranks.left());
  });
}

TEST_P(Together, ATextOfAnyLengthReachesAll) {
  RanksInThreads(GetParam()).Run([&](const Communicator& ranks) {
    for (const std::size_t length : {0, 1, 1000}) {
      std::string text = ranks.rank() == 0 ? std::string(length, 'x') : "something else";
      ranks.Broadcast(&text);
      EXPECT_EQ(text, std::string(length, 'x'));
    }
  });
}

TEST(Alone, KeepsWhatItSends) {
  const Communicator& alone = Alone();
  EXPECT_EQ(alone.rank(), 0);
  EXPECT_EQ(alone.size(), 1);
  std::array<double, 2> numbers = {1, 2};
  alone.Broadcast(std::span<double>(numbers));
  EXPECT_EQ(numbers, (std::array<double, 2>{1, 2}));
  Parcels in;
  in.counts = {2};
  alone.Exchange({{3, 4}, {2}}, &in);
  EXPECT_EQ(in.values, (std::vector<double>{3, 4}));
  EXPECT_EQ(alone.Gather("a"), std::vector<std::string>{"a"});
  EXPECT_EQ(alone.Largest(-7), -7);
}

TEST(Alone, AnErrorOfAnotherKindMeansLeaving) {
  for (const int size : {1, 2}) {
    RanksInThreads(size).Run([](const Communicator& ranks) {
      EXPECT_THROW(DoTogether(ranks, [] { ThrowError("no"); }), Error);
      EXPECT_EQ(ranks.left(), ranks.size() > 1);  // alone, there is nobody to leave
    });
  }
}

}  // namespace
}  // namespace fathom
