#include "study/made_data.h"

#include <algorithm>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "study/honest_data.h"
#include "study/mountain_car.h"

namespace fathom {

namespace {

constexpr const char* kMountainCar = "mountain_car";

SplitData MakeMountainCar() {
  constexpr Index kTrainRows = 400;
  constexpr Index kTestRows = 2000;
  constexpr Index kSplits = 10;
  constexpr double kNoise = 2;
  RandomStream stream(1);
  const SampledFunction sample =
      SampleMountainCar(SolveMountainCar(), kTrainRows + kTestRows, kNoise, &stream);
  SplitData data;
  data.table.source = kMountainCar;
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

}  // namespace

bool CanMakeData(const std::string& name) {
  const std::vector<std::string> honest = HonestNames();
  return name == kMountainCar || std::count(honest.begin(), honest.end(), name) > 0;
}

SplitData MakeData(const std::string& name) {
  FATHOM_CHECK(CanMakeData(name));
  return name == kMountainCar ? MakeMountainCar() : MakeHonestData(name);
}

}  // namespace fathom
