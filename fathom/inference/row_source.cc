#include "fathom/inference/row_source.h"

#include <algorithm>
#include <utility>

#include "fathom/base/error.h"

namespace fathom {

namespace {

TableFacts FactsOf(const Moments& x, const Matrix& y, const Vector& weights) {
  FATHOM_CHECK(x.rows() == y.rows());
  FATHOM_CHECK(weights.size() == 0 || (weights.size() == x.rows() && weights.minCoeff() > 0));
  return {.rows = x.rows(),
          .inputs = x.cols(),
          .targets = y.cols(),
          .uncertain = (x.var.array() != 0).any() ? 1 : 0,
          .weighted = weights.size() == 0 ? 0 : 1,
          .mean_weight = weights.size() == 0 ? 1 : weights.mean()};
}

class InMemory : public RowSource {
 public:
  InMemory(const Moments& x, const Matrix& y, Vector weights)
      : RowSource(FactsOf(x, y, weights)), x_(x), y_(y), weights_(std::move(weights)) {}

  const Communicator& ranks() const override { return Alone(); }
  TableRows Fetch(std::span<const Index> rows, const SlotPlan& /*plan*/,
                  FetchedRows* /*memory*/) const override {
    return {x_, y_, weights_, rows, rows};
  }

 private:
  const Moments& x_;
  const Matrix& y_;
  Vector weights_;
};

// One row as a run of numbers: inputs, their variances if any has one, targets, weight.
class RowLayout {
 public:
  explicit RowLayout(const TableFacts& facts) : facts_(facts) {}

  Index width() const {
    return facts_.inputs * (1 + facts_.uncertain) + facts_.targets + facts_.weighted;
  }

  void Write(const Moments& x, const Matrix& y, const Vector& weights, Index row,
             std::vector<double>* out) const {
    const auto append = [&](const double* begin, Index count) {
      out->insert(out->end(), begin, begin + count);
    };
    append(x.mean.row(row).data(), facts_.inputs);
    if (facts_.uncertain != 0) append(x.var.row(row).data(), facts_.inputs);
    append(y.row(row).data(), facts_.targets);
    if (facts_.weighted != 0) append(&weights[row], 1);
  }

  // Into row `place`, where there is room.
  void Read(const double* from, Index place, FetchedRows* to) const {
    const auto take = [&](double* begin, Index count) {
      std::copy(from, from + count, begin);
      from += count;
    };
    take(to->x.mean.row(place).data(), facts_.inputs);
    if (facts_.uncertain != 0) {
      take(to->x.var.row(place).data(), facts_.inputs);
    } else {
      to->x.var.row(place).setZero();
    }
    take(to->y.row(place).data(), facts_.targets);
    if (facts_.weighted != 0) take(&to->weights[place], 1);
  }

  void Resize(Index rows, FetchedRows* to) const {
    if (to->x.rows() == rows && to->x.cols() == facts_.inputs) return;
    to->x.Resize(rows, facts_.inputs);
    to->y.resize(rows, facts_.targets);
    to->weights.resize(facts_.weighted != 0 ? rows : 0);
  }

 private:
  TableFacts facts_;
};

// Rank r holds the rows [rows r / ranks, rows (r + 1) / ranks).
class SharedRows : public RowSource {
 public:
  SharedRows(TableFacts facts, const Communicator& ranks)
      : RowSource(facts), ranks_(ranks), layout_(facts) {}

  const Communicator& ranks() const override { return ranks_; }

  Index FirstOf(int rank) const { return facts().rows * rank / ranks_.size(); }

  // Sends every rank its share, in rounds, so that the parcels stay small. `x`, `y` and `weights`
  // are those of rank 0 and not looked at elsewhere.
  void Deal(const Moments& x, const Matrix& y, const Vector& weights) {
    const Index round = std::max<Index>(1, kParcel / layout_.width());
    const Index rounds = (facts().rows / ranks_.size() + 1 + round - 1) / round;
    share_.reserve((FirstOf(ranks_.rank() + 1) - FirstOf(ranks_.rank())) * layout_.width());
    Parcels out;
    Parcels in;
    for (Index i = 0; i < rounds; ++i) {
      out.Clear(ranks_.size());
      in.Clear(ranks_.size());
      const auto rows_of = [&](int r) {
        return std::clamp<Index>(FirstOf(r + 1) - FirstOf(r) - i * round, 0, round);
      };
      for (int r = 0; r < ranks_.size() && ranks_.rank() == 0; ++r) {
        const Index first = FirstOf(r) + i * round;
        for (Index n = 0; n < rows_of(r); ++n) layout_.Write(x, y, weights, first + n, &out.values);
        out.counts[r] = rows_of(r) * layout_.width();
      }
      in.counts[0] = rows_of(ranks_.rank()) * layout_.width();
      ranks_.Exchange(out, &in);
      share_.insert(share_.end(), in.values.begin(), in.values.end());
    }
  }

  TableRows Fetch(std::span<const Index> rows, const SlotPlan& plan,
                  FetchedRows* memory) const override {
    Parcels& out = memory->out;
    Parcels& in = memory->in;
    out.Clear(ranks_.size());
    in.Clear(ranks_.size());
    std::vector<std::vector<Index>> wanted(ranks_.size());  // [rank]: of my rows
    std::vector<std::vector<Index>> places(ranks_.size());  // [rank]: where its rows go
    memory->places.assign(rows.size(), -1);
    Index coming = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int owner = OwnerOf(rows[i]);
      const int user = RankOfSlot(plan.SlotOf(static_cast<Index>(i)), plan.slots, ranks_.size());
      if (owner == ranks_.rank()) wanted[user].push_back(rows[i]);
      if (user != ranks_.rank()) continue;
      places[owner].push_back(coming);
      memory->places[i] = coming++;
    }
    for (int r = 0; r < ranks_.size(); ++r) {
      for (const Index row : wanted[r]) Append(row, &out.values);
      out.counts[r] = static_cast<Index>(wanted[r].size()) * layout_.width();
      in.counts[r] = static_cast<Index>(places[r].size()) * layout_.width();
    }
    ranks_.Exchange(out, &in);
    layout_.Resize(coming, memory);
    const double* next = in.values.data();
    for (const std::vector<Index>& from_rank : places) {
      for (const Index place : from_rank) {
        layout_.Read(next, place, memory);
        next += layout_.width();
      }
    }
    return {memory->x, memory->y, memory->weights, rows, memory->places};
  }

 private:
  static constexpr Index kParcel = Index{1} << 17;  // numbers for one rank in one round: 1 MB

  // The inverse of FirstOf.
  int OwnerOf(Index row) const {
    return static_cast<int>(((row + 1) * ranks_.size() - 1) / facts().rows);
  }

  void Append(Index row, std::vector<double>* out) const {
    const auto begin = share_.begin() + (row - FirstOf(ranks_.rank())) * layout_.width();
    out->insert(out->end(), begin, begin + layout_.width());
  }

  const Communicator& ranks_;
  RowLayout layout_;
  std::vector<double> share_;  // this rank's rows
};

}  // namespace

std::unique_ptr<RowSource> RowsHere(const Moments& x, const Matrix& y, Vector weights) {
  return std::make_unique<InMemory>(x, y, std::move(weights));
}

std::unique_ptr<RowSource> ShareRows(const Moments& x, const Matrix& y, const Vector& weights,
                                     const Communicator& ranks) {
  if (ranks.size() == 1) return RowsHere(x, y, weights);
  TableFacts facts = FactsOf(x, y, weights);
  ranks.Broadcast(std::span(&facts, 1));
  auto rows = std::make_unique<SharedRows>(facts, ranks);
  rows->Deal(x, y, weights);
  return rows;
}

std::unique_ptr<RowSource> ReceiveRows(const Communicator& ranks) {
  TableFacts facts;
  ranks.Broadcast(std::span(&facts, 1));
  auto rows = std::make_unique<SharedRows>(facts, ranks);
  rows->Deal({}, {}, {});
  return rows;
}

}  // namespace fathom
