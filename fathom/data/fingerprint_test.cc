#include "fathom/data/fingerprint.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/nan.h"

namespace fathom {
namespace {

DatasetParts Small() {
  DatasetParts data;
  data.source = "a.csv";
  data.schema = NumericSchema({"a", "bc"}, {"y"});
  data.inputs = Moments::Certain(Matrix{{1, 2}, {kNaN, 4}, {5, 0}});
  data.targets = Matrix{{1}, {2}, {3}};
  return data;
}

TEST(Fingerprint, EveryChangeShows) {
  const std::string before = Fingerprint(Small());
  EXPECT_EQ(before.size(), 16U);
  const std::vector<std::function<void(DatasetParts*)>> changes = {
      [](DatasetParts* data) { data->inputs.mean(0, 0) = std::nextafter(1.0, 2.0); },
      [](DatasetParts* data) { data->inputs.mean(1, 0) = 0; },
      [](DatasetParts* data) { data->inputs.var(2, 1) = 1e-300; },
      [](DatasetParts* data) { data->targets(2, 0) = -3; },
      [](DatasetParts* data) { data->targets.col(0).swap(data->inputs.mean.col(1)); },
      [](DatasetParts* data) { data->inputs.mean.row(0).swap(data->inputs.mean.row(2)); },
      [](DatasetParts* data) {
        data->schema = NumericSchema({"ab", "c"}, {"y"});
      },
      [](DatasetParts* data) {
        data->schema = NumericSchema({"y", "bc"}, {"a"});
      }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    DatasetParts changed = Small();
    changes[i](&changed);
    EXPECT_NE(Fingerprint(changed), before) << "change " << i;
  }
}

TEST(Fingerprint, WhatDoesNotMatterDoesNotShow) {
  DatasetParts same = Small();
  same.source = "b.csv";
  same.dropped_rows = 7;
  same.inputs.mean(2, 1) = -0.0;
  same.inputs.mean(1, 0) = -kNaN;
  EXPECT_EQ(Fingerprint(same), Fingerprint(Small()));
}

}  // namespace
}  // namespace fathom
