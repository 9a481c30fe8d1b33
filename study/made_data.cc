#include "study/made_data.h"

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "study/mountain_car.h"

namespace fathom {

namespace {

constexpr const char* kMountainCar = "mountain_car";

}  // namespace

bool CanMakeData(const std::string& name) { return name == kMountainCar; }

SplitData MakeData(const std::string& name) {
  FATHOM_CHECK(CanMakeData(name));
  constexpr Index kTrainRows = 400;
  constexpr Index kTestRows = 2000;
  constexpr Index kSplits = 10;
  constexpr double kNoise = 2;
  RandomStream stream(1);
  const SampledFunction sample =
      SampleMountainCar(SolveMountainCar(), kTrainRows + kTestRows, kNoise, &stream);
  SplitData data;
  data.table.source = name;
  data.table.columns = {"position", "velocity", "value"};
  data.table.values.resize(sample.X.rows(), 3);
  data.table.values << sample.X, sample.y;
  for (Index s = 0; s < kSplits; ++s) {
    RandomStream order(1, static_cast<std::uint64_t>(s) + 1);
    data.splits.push_back(
        RandomSplit(kTrainRows + kTestRows, double{kTestRows} / (kTrainRows + kTestRows), &order));
  }
  return data;
}

}  // namespace fathom
