#include "bnn/training_rows.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "fathom/base/error.h"
#include "fathom/data/split.h"

namespace fathom::bnn {

namespace {

// Below this, relative to the mean, a deviation is rounding: two columns of naval are like that.
constexpr double kRounding = 1e-10;

bool IsBits(const Matrix& values) { return ((values.array() == 0) || (values.array() == 1)).all(); }

Scaler InputScaler(const Matrix& inputs) {
  Scaler scaler = FitScaler(inputs);
  if (IsBits(inputs)) {
    scaler.mean.setZero();
    scaler.scale.setOnes();
    return scaler;
  }
  for (Index c = 0; c < scaler.scale.size(); ++c) {
    if (scaler.scale[c] < kRounding * (1 + std::abs(scaler.mean[c]))) scaler.scale[c] = 1;
  }
  return scaler;
}

void CheckDataset(const Dataset& dataset) {
  const std::string& source = dataset.source();
  if (dataset.rows() == 0) ThrowError(source, ": no rows to train on");
  if (dataset.inputs().cols() == 0) ThrowError(source, ": no input columns");
  if (dataset.schema().has_classes())
    ThrowError(source,
               ": the target holds classes; a baseline predicts numbers, 'fathom fit' both");
  if (dataset.targets().cols() != 1)
    ThrowError(source, ": there are ", dataset.targets().cols(),
               " targets; a baseline predicts one, 'fathom fit' any number");
  if (!dataset.targets().allFinite()) ThrowError(source, ": a target is missing");
  if (dataset.weights().size() > 0)
    ThrowError(source, ": rows have weights, which a baseline cannot use; leave them out");
}

}  // namespace

TrainingRows Standardize(const Dataset& dataset) {
  CheckDataset(dataset);
  TrainingRows out;
  out.input_scaler = InputScaler(dataset.inputs().mean);
  out.target_scaler = FitScaler(dataset.targets());
  const double mean = out.target_scaler.mean[0];
  if (!out.target_scaler.Varies(0) || out.target_scaler.scale[0] < kRounding * (1 + std::abs(mean)))
    ThrowError(dataset.source(), ": the target is ", mean,
               " in all rows; there is nothing to learn");
  out.x = StandardizeInputs(out.input_scaler, dataset.inputs());
  out.rows = StandardizeLike(out, dataset);
  return out;
}

Rows StandardizeLike(const TrainingRows& train, const Dataset& dataset) {
  return {StandardizeInputs(train.input_scaler, dataset.inputs()).mean,
          StandardizeTargets(train.target_scaler, dataset.targets()).col(0)};
}

std::vector<Cut> MakeCuts(const Dataset& dataset, std::uint64_t seed) {
  const bool small = dataset.rows() < 2000;
  std::vector<Cut> cuts;
  for (std::uint64_t k = 0; k < (small ? 3 : 1); ++k) {
    RandomStream stream(seed, k);
    const Split split = RandomSplit(dataset.rows(), small ? 0.2 : 0.1, &stream);
    Cut cut{.train = Standardize(Subset(dataset, split.train)), .held_out = {}};
    cut.held_out = StandardizeLike(cut.train, Subset(dataset, split.held_out));
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

// FNV-1a, then the finaliser of splitmix64.
std::uint64_t SeedFor(std::uint64_t seed, std::string_view purpose) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed;
  for (const char c : purpose) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

BatchPlan::BatchPlan(const Rows& rows, Index batch_size, Remainder remainder, std::uint64_t seed)
    : rows_(rows), size_(std::min(batch_size, rows.size())), seed_(seed) {
  const Index rest = remainder == Remainder::kKeep ? size_ - 1 : 0;
  steps_per_epoch_ = (rows.size() + rest) / size_;
}

const Rows& BatchPlan::At(Index step) {
  if (size_ == rows_.size()) return rows_;
  const Index epoch = step / steps_per_epoch_;
  if (epoch != epoch_) {
    RandomStream stream(seed_, static_cast<std::uint64_t>(epoch));
    stream.Permutation(rows_.size(), &order_);
    epoch_ = epoch;
  }
  const Index first = (step % steps_per_epoch_) * size_;
  const Index count = std::min(size_, rows_.size() - first);
  batch_.X.resize(count, rows_.X.cols());
  batch_.y.resize(count);
  for (Index i = 0; i < count; ++i) {
    const Index n = order_[static_cast<std::size_t>(first + i)];
    batch_.X.row(i) = rows_.X.row(n);
    batch_.y[i] = rows_.y[n];
  }
  return batch_;
}

Index DefaultBatchSize(Index rows) { return std::min<Index>(rows, rows <= 2000 ? 128 : 256); }

}  // namespace fathom::bnn
