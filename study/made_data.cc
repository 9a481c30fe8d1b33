#include "study/made_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/base/noise_stream.h"
#include "fathom/base/random.h"
#include "study/honest_data.h"
#include "study/mountain_car.h"

namespace fathom {

namespace {

constexpr const char* kMountainCar = "mountain_car";
constexpr const char* kYear = "year_made";

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

// The songs' columns are 12 averages and the 78 variances and covariances of 12 numbers over time.
constexpr Index kAverages = 12;
constexpr Index kYearInputs = kAverages + kAverages * (kAverages + 1) / 2;

class SongMaker {
 public:
  SongMaker() : noise_(1, 1) {
    RandomStream stream(1);
    mixing_ =
        Matrix::Identity(kAverages, kAverages) + 0.4 * stream.NormalMatrix(kAverages, kAverages);
    direction_ = stream.NormalMatrix(kAverages, 1);
    for (Index j = 0; j < kYearInputs; ++j) scales_[j] = std::exp(1.5 * stream.Normal());
  }

  // Inputs, then the year.
  template <typename Row>
  void Make(Row&& row) {
    noise_.Normals(draws_);
    const Eigen::Map<const Vector> z(draws_.data(), kAverages);
    const Vector a = mixing_ * z;
    row.head(kAverages) = a;
    Index j = kAverages;
    for (Index i = 0; i < kAverages; ++i) {
      for (Index k = 0; k <= i; ++k, ++j) row[j] = 0.5 * a[i] * a[k] + draws_[j] + (i == k ? 3 : 0);
    }
    for (Index c = 0; c < kYearInputs; ++c) row[c] *= scales_[c];
    // Two thirds of what can be known are a straight line.
    const double line = direction_.dot(z) / direction_.norm();
    const double bend = std::tanh(2 * z[0]) * z[1] + std::sin(2 * z[2]) + (z[3] * z[3] - 1) / 2;
    const double known = std::sqrt(0.65) * line + std::sqrt(0.35) * bend / kBendDeviation;
    const double age = std::exp(
        2.254 + 0.747 * (std::sqrt(kKnown) * known + std::sqrt(1 - kKnown) * draws_[kYearInputs]));
    row[kYearInputs] = 2011 - std::clamp(std::floor(age), 0.0, 89.0);
  }

 private:
  // With a lognormal age this much known of its logarithm is a third of its variance.
  static constexpr double kKnown = 0.42;
  static constexpr double kBendDeviation = 1.25;

  NoiseStream noise_;
  Matrix mixing_;
  Vector direction_;
  std::array<double, kYearInputs> scales_{};
  std::array<double, kYearInputs + 1> draws_{};
};

SplitData MakeYear() {
  constexpr Index kTrainRows = 463'715;
  constexpr Index kTestRows = 51'630;
  SplitData data;
  data.table.source = kYear;
  for (Index j = 0; j < kYearInputs; ++j) data.table.columns.push_back("x" + std::to_string(j + 1));
  data.table.columns.emplace_back("year");
  data.table.values.resize(kTrainRows + kTestRows, kYearInputs + 1);
  SongMaker maker;
  for (Index n = 0; n < data.table.values.rows(); ++n) maker.Make(data.table.values.row(n));
  Split split;
  for (Index n = 0; n < data.table.values.rows(); ++n)
    (n < kTrainRows ? split.train : split.held_out).push_back(n);
  data.splits.push_back(std::move(split));
  return data;
}

}  // namespace

bool CanMakeData(const std::string& name) {
  const std::vector<std::string> honest = HonestNames();
  return name == kMountainCar || name == kYear ||
         std::count(honest.begin(), honest.end(), name) > 0;
}

SplitData MakeData(const std::string& name) {
  FATHOM_CHECK(CanMakeData(name));
  if (name == kMountainCar) return MakeMountainCar();
  return name == kYear ? MakeYear() : MakeHonestData(name);
}

}  // namespace fathom
