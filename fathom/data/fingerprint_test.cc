#include "fathom/data/fingerprint.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace fathom {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Dataset Small() {
  Dataset data;
  data.source = "a.csv";
  data.input_names = {"a", "bc"};
  data.target_names = {"y"};
  data.inputs = Moments::Certain(Matrix{{1, 2}, {kNaN, 4}, {5, 0}});
  data.targets = Matrix{{1}, {2}, {3}};
  return data;
}

TEST(Fingerprint, EveryChangeShows) {
  const std::string before = Fingerprint(Small());
  EXPECT_EQ(before.size(), 16U);
  const std::vector<std::function<void(Dataset*)>> changes = {
      [](Dataset* data) { data->inputs.mean(0, 0) = std::nextafter(1.0, 2.0); },
      [](Dataset* data) { data->inputs.mean(1, 0) = 0; },
      [](Dataset* data) { data->inputs.var(2, 1) = 1e-300; },
      [](Dataset* data) { data->targets(2, 0) = -3; },
      [](Dataset* data) { data->targets.col(0).swap(data->inputs.mean.col(1)); },
      [](Dataset* data) { data->inputs.mean.row(0).swap(data->inputs.mean.row(2)); },
      [](Dataset* data) {
        data->input_names = {"ab", "c"};
      },
      [](Dataset* data) { std::swap(data->target_names[0], data->input_names[0]); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Dataset changed = Small();
    changes[i](&changed);
    EXPECT_NE(Fingerprint(changed), before) << "change " << i;
  }
}

TEST(Fingerprint, WhatDoesNotMatterDoesNotShow) {
  Dataset same = Small();
  same.source = "b.csv";
  same.dropped_rows = 7;
  same.inputs.mean(2, 1) = -0.0;
  same.inputs.mean(1, 0) = -kNaN;
  EXPECT_EQ(Fingerprint(same), Fingerprint(Small()));
}

}  // namespace
}  // namespace fathom
