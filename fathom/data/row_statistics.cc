#include "fathom/data/row_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "fathom/base/error.h"
#include "fathom/data/column_moments.h"
#include "fathom/distributed/communicator.h"

namespace fathom {

namespace {

// The extremes and the sample of some rows, in one vector of numbers that can be sent.
class SimpleStatistics {
 public:
  SimpleStatistics(const HeldRows& held, Index width, Index targets)
      : width_(width), targets_(targets), stride_(StrideOf(held.rows)), next_(held.first) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    low_ = high_ = Vector::Constant(width, nan);
    missing_ = largest_var_ = Vector::Zero(width);
    least_ = Vector::Constant(targets, HUGE_VAL);
    most_ = -least_;
  }

  // fmin and fmax pass over NaN.
  void Add(const Dataset& block) {
    const Moments& inputs = block.inputs();
    for (Index n = 0; n < block.rows(); ++n, ++next_) {  // in the order of memory
      for (Index c = 0; c < width_; ++c) {
        const double value = inputs.mean(n, c);
        if (std::isnan(value)) {
          missing_[c] = 1;
          continue;
        }
        low_[c] = std::fmin(low_[c], value);
        high_[c] = std::fmax(high_[c], value);
        largest_var_[c] = std::max(largest_var_[c], inputs.var(n, c));
      }
      for (Index t = 0; t < targets_; ++t) {
        const double y = block.targets()(n, t);
        least_[t] = std::fmin(least_[t], y);
        most_[t] = std::fmax(most_[t], y);
        if (next_ % stride_ == 0) sample_.push_back(y);
      }
    }
  }

  std::string ToBytes() const {
    std::vector<double> numbers;
    for (const Vector* vector : {&low_, &high_, &missing_, &largest_var_, &least_, &most_})
      numbers.insert(numbers.end(), vector->begin(), vector->end());
    numbers.insert(numbers.end(), sample_.begin(), sample_.end());
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
  }

  // Adds what ToBytes says of the rows that follow.
  void Join(const std::string& bytes) {
    if (bytes.empty()) return;
    std::vector<double> numbers(bytes.size() / sizeof(double));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    const double* next = numbers.data();
    const auto join = [&](Vector* vector, double (*choose)(double, double)) {
      for (double& value : *vector) value = choose(value, *next++);
    };
    join(&low_, std::fmin);
    join(&high_, std::fmax);
    join(&missing_, std::fmax);
    join(&largest_var_, std::fmax);
    join(&least_, std::fmin);
    join(&most_, std::fmax);
    sample_.insert(sample_.end(), next, const_cast<const double*>(numbers.data()) + numbers.size());
  }

  void MoveTo(RowStatistics* statistics) {
    statistics->low = std::move(low_);
    statistics->high = std::move(high_);
    statistics->missing = std::move(missing_);
    statistics->largest_var = std::move(largest_var_);
    statistics->least = std::move(least_);
    statistics->most = std::move(most_);
    const Index sampled = targets_ == 0 ? 0 : std::ssize(sample_) / targets_;
    statistics->target_sample = Eigen::Map<const Matrix>(sample_.data(), sampled, targets_);
  }

 private:
  static Index StrideOf(Index rows) {
    constexpr Index kMostSampled = Index{1} << 20;
    return std::max<Index>(1, (rows + kMostSampled - 1) / kMostSampled);
  }

  Index width_, targets_, stride_;
  Index next_;  // row among those of all ranks
  Vector low_, high_, missing_, largest_var_, least_, most_;
  std::vector<double> sample_;
};

// Rows in an order of their own are no part of a table any more.
std::span<const Index> InOrder(const Dataset& block) {
  const std::vector<Index>& rows = block.table_rows();
  if (!std::is_sorted(rows.begin(), rows.end())) return {};
  return rows;
}

}  // namespace

RowStatistics CollectStatistics(const HeldRows& held, const Communicator& ranks) {
  const Index width = held.head.inputs().cols();
  const Index targets = held.head.targets().cols();
  SimpleStatistics simple(held, width, targets);
  ColumnMoments of_inputs(width), of_targets(targets);
  held.for_each_block([&](const Dataset& block) {
    simple.Add(block);
    of_inputs.Add(block.inputs().mean, block.weights(), InOrder(block));
    of_targets.Add(block.targets(), block.weights(), InOrder(block));
  });
  of_inputs.JoinMeans(ranks);
  of_targets.JoinMeans(ranks);
  held.for_each_block([&](const Dataset& block) {
    of_inputs.AddSquares(block.inputs().mean, block.weights(), InOrder(block));
    of_targets.AddSquares(block.targets(), block.weights(), InOrder(block));
  });
  of_inputs.JoinSquares(ranks);
  of_targets.JoinSquares(ranks);
  const std::string own = ranks.rank() == 0 ? "" : simple.ToBytes();
  for (const std::string& others : ranks.Gather(own)) simple.Join(others);
  RowStatistics statistics;
  statistics.rows = held.rows;
  simple.MoveTo(&statistics);
  statistics.input_scaler = of_inputs.ToScaler();
  statistics.target_scaler = of_targets.ToScaler();
  return statistics;
}

}  // namespace fathom
