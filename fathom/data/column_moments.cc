#include "fathom/data/column_moments.h"

#include <cmath>
#include <cstring>
#include <string>

#include "fathom/base/error.h"

namespace fathom {

namespace {

long double WeightOf(const Vector& weights, Index n) {
  return weights.size() == 0 ? 1.0L : weights[n];
}

template <typename Wide>
void AppendWide(const Wide& numbers, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(numbers.data()),
                static_cast<std::size_t>(numbers.size()) * sizeof(long double));
}

template <typename Wide>
Wide TakeWide(Index size, std::string_view* bytes) {
  Wide numbers(size);
  const std::size_t taken = static_cast<std::size_t>(size) * sizeof(long double);
  FATHOM_CHECK(bytes->size() >= taken);
  std::memcpy(numbers.data(), bytes->data(), taken);
  bytes->remove_prefix(taken);
  return numbers;
}

}  // namespace

ColumnMoments::ColumnMoments(Index columns)
    : columns_(columns),
      count_(Wide::Zero(columns)),
      mean_(Wide::Zero(columns)),
      squares_(Wide::Zero(columns)) {}

template <typename Start, typename AddRun>
void ColumnMoments::ForEachRun(Index rows, std::span<const Index> table_rows, const Start& start,
                               const AddRun& add) {
  FATHOM_CHECK(table_rows.empty() || std::ssize(table_rows) == rows);
  const auto group_of = [&](Index n) {
    return (table_rows.empty() ? next_row_ + n : table_rows[n]) / kGroupRows;
  };
  for (Index n = 0; n < rows;) {
    const Index group = group_of(n);
    if (group != group_) start();
    group_ = group;
    Index end = n + 1;
    while (end < rows && group_of(end) == group) ++end;
    add(n, end);
    n = end;
  }
  next_row_ += rows;
}

void ColumnMoments::Add(const Matrix& values, const Vector& weights,
                        std::span<const Index> table_rows) {
  FATHOM_CHECK(weights.size() == 0 || weights.size() == values.rows());
  const auto start = [&] {
    groups_.push_back({Wide::Zero(columns_), Wide::Zero(columns_), Wide::Zero(columns_)});
  };
  ForEachRun(values.rows(), table_rows, start, [&](Index first, Index end) {
    Group& group = groups_.back();
    for (Index n = first; n < end; ++n) {
      for (Index c = 0; c < columns_; ++c) {
        const double value = values(n, c);
        if (std::isnan(value)) continue;
        if (group.count[c] == 0) group.first[c] = value;
        group.sum[c] += WeightOf(weights, n) * (value - group.first[c]);
        group.count[c] += WeightOf(weights, n);
      }
    }
  });
}

void ColumnMoments::JoinGroup(const Group& group) {
  for (Index c = 0; c < columns_; ++c) {
    if (group.count[c] == 0) continue;
    const long double mean = group.first[c] + group.sum[c] / group.count[c];
    count_[c] += group.count[c];
    mean_[c] = count_[c] == group.count[c]
                   ? mean
                   : mean_[c] + (mean - mean_[c]) * (group.count[c] / count_[c]);
  }
}

void ColumnMoments::JoinMeans(const Communicator& ranks) {
  std::string own;
  for (const Group& group : groups_) {
    if (ranks.rank() == 0) {
      JoinGroup(group);
      continue;
    }
    AppendWide(group.first, &own);
    AppendWide(group.sum, &own);
    AppendWide(group.count, &own);
  }
  for (const std::string& text : ranks.Gather(own)) {
    for (std::string_view left = text; !left.empty();) {
      Group group;
      group.first = TakeWide<Wide>(columns_, &left);
      group.sum = TakeWide<Wide>(columns_, &left);
      group.count = TakeWide<Wide>(columns_, &left);
      JoinGroup(group);
    }
  }
  ranks.Broadcast(std::span(mean_.data(), static_cast<std::size_t>(columns_)));
  groups_.clear();
  group_ = -1;
  next_row_ = 0;
}

void ColumnMoments::AddSquares(const Matrix& values, const Vector& weights,
                               std::span<const Index> table_rows) {
  const auto start = [&] { squares_of_group_.emplace_back(Wide::Zero(columns_)); };
  ForEachRun(values.rows(), table_rows, start, [&](Index first, Index end) {
    Wide& squares = squares_of_group_.back();
    for (Index n = first; n < end; ++n) {
      for (Index c = 0; c < columns_; ++c) {
        const long double difference = values(n, c) - mean_[c];
        if (!std::isnan(difference)) squares[c] += WeightOf(weights, n) * difference * difference;
      }
    }
  });
}

void ColumnMoments::JoinSquares(const Communicator& ranks) {
  std::string own;
  for (const Wide& squares : squares_of_group_) {
    if (ranks.rank() == 0) {
      squares_ += squares;
    } else {
      AppendWide(squares, &own);
    }
  }
  for (const std::string& text : ranks.Gather(own)) {
    for (std::string_view left = text; !left.empty();) squares_ += TakeWide<Wide>(columns_, &left);
  }
  squares_of_group_.clear();
}

Scaler ColumnMoments::ToScaler() const {
  Scaler scaler;
  scaler.mean = mean_.cast<double>().matrix().transpose();
  scaler.scale =
      (squares_ / (count_ == 0).select(1, count_)).sqrt().cast<double>().matrix().transpose();
  scaler.missing_var = Vector::Ones(columns_);
  for (Index c = 0; c < columns_; ++c) {
    if (scaler.scale[c] > 0) continue;
    scaler.scale[c] = 1;
    scaler.missing_var[c] = 0;
  }
  return scaler;
}

}  // namespace fathom
