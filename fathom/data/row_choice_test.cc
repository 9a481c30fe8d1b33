#include "fathom/data/row_choice.h"

#include <gtest/gtest.h>

#include "fathom/base/random.h"

namespace fathom {
namespace {

TEST(RowChoice, FindsTheRowsThatWereChosen) {
  // A few at the beginning and the end, all, none for long stretches, and any.
  for (const int pattern : {0, 1, 2, 3}) {
    RandomStream stream(4);
    RowChoice choice;
    std::vector<Index> chosen;
    for (Index n = 0; n < 20'000; ++n) {
      const bool keep = pattern == 0   ? n < 3 || n > 19'990
                        : pattern == 1 ? true
                        : pattern == 2 ? n / 5000 == 2
                                       : stream.Uniform() < 0.4;
      choice.Add(keep);
      if (keep) chosen.push_back(n);
    }
    ASSERT_EQ(choice.size(), std::ssize(chosen));
    for (Index i = 0; i < choice.size(); ++i) ASSERT_EQ(choice.Find(i), chosen[i]) << pattern;
  }
}

}  // namespace
}  // namespace fathom
