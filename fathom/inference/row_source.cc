#include "fathom/inference/row_source.h"

#include <algorithm>
#include <bit>
#include <future>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/io/scratch_file.h"

namespace fathom {

namespace {

TableFacts FactsOf(const Moments& x, const Matrix& y, const Vector& weights) {
  FactsCollector facts;
  facts.Add(x, y, weights);
  return facts.facts();
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

// Reads the rows of the next step while this one computes.
class OnDisk : public RowSource {
 public:
  explicit OnDisk(RowReader reader) : RowSource(reader.facts), read_(std::move(reader.read)) {}

  const Communicator& ranks() const override { return Alone(); }

  TableRows Fetch(std::span<const Index> rows, const SlotPlan& /*plan*/,
                  FetchedRows* memory) const override {
    if (!TakeNext(rows, memory)) read_(rows, memory);
    memory->places.resize(rows.size());
    std::iota(memory->places.begin(), memory->places.end(), Index{0});
    return {memory->x, memory->y, memory->weights, rows, memory->places};
  }

  void WillNeed(std::span<const Index> rows) const override {
    Next next{{rows.begin(), rows.end()}, {}};
    next.read = std::async(std::launch::async, [this, wanted = next.rows] {
      FetchedRows read;
      read_(wanted, &read);
      return read;
    });
    Next stale;
    const std::lock_guard lock(mutex_);
    coming_.push_back(std::move(next));
    if (coming_.size() <= kMostComing) return;
    stale = std::move(coming_.front());
    coming_.erase(coming_.begin());
  }

 private:
  // The rows of this step and of the next one.
  static constexpr std::size_t kMostComing = 2;
  struct Next {
    std::vector<Index> rows;
    std::future<FetchedRows> read;
  };

  // Whether the rows are on their way. What was told before them was for a step that never came.
  bool TakeNext(std::span<const Index> rows, FetchedRows* memory) const {
    std::vector<Next> told;
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(coming_.begin(), coming_.end(), [&](const Next& next) {
        return std::ranges::equal(next.rows, rows);
      });
      if (found == coming_.end()) return false;
      told.assign(std::make_move_iterator(coming_.begin()), std::make_move_iterator(found + 1));
      coming_.erase(coming_.begin(), found + 1);
    }
    FetchedRows read = told.back().read.get();
    memory->x = std::move(read.x);
    memory->y = std::move(read.y);
    memory->weights = std::move(read.weights);
    return true;
  }

  std::function<void(std::span<const Index> rows, FetchedRows* to)> read_;
  mutable std::mutex mutex_;
  mutable std::vector<Next> coming_;
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

// The rows of one rank, one after the other, in memory or in a file.
class Share {
 public:
  Share(Index rows, Index width, double memory) : width_(width) {
    const double bytes = sizeof(double) * static_cast<double>(rows) * static_cast<double>(width);
    if (bytes <= memory) {
      numbers_.reserve(static_cast<std::size_t>(rows * width));
    } else {
      file_.emplace(ScratchFolder(), "the rows of this rank");
    }
  }

  void Add(std::span<const double> numbers) {
    if (file_) {
      file_->Write({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
    } else {
      numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
    }
  }

  void Append(Index row, std::vector<double>* out) const {
    const auto place = static_cast<std::size_t>(row * width_);
    const auto width = static_cast<std::size_t>(width_);
    if (!file_) {
      const double* const from = numbers_.data() + place;
      out->insert(out->end(), from, from + width);
      return;
    }
    out->resize(out->size() + width);
    file_->Read(sizeof(double) * place, out->data() + out->size() - width, sizeof(double) * width);
  }

 private:
  Index width_;
  std::vector<double> numbers_;
  std::optional<ScratchFile> file_;
};

std::vector<Index> EqualRanges(Index rows, int ranks) {
  std::vector<Index> firsts;
  for (int r = 0; r <= ranks; ++r) firsts.push_back(rows * r / ranks);
  return firsts;
}

// Rank r holds the rows from firsts[r] to the first one of the next rank.
class SharedRows : public RowSource {
 public:
  SharedRows(TableFacts facts, std::vector<Index> firsts, const Communicator& ranks, double memory)
      : RowSource(facts),
        ranks_(ranks),
        layout_(facts),
        firsts_(std::move(firsts)),
        share_(FirstOf(ranks.rank() + 1) - FirstOf(ranks.rank()), layout_.width(), memory) {}

  const Communicator& ranks() const override { return ranks_; }

  Index FirstOf(int rank) const { return firsts_[static_cast<std::size_t>(rank)]; }

  // This rank's share, where it is here.
  void Take(const RowsInPlace& rows) {
    std::vector<double> numbers;
    rows.for_each_block([&](const Moments& x, const Matrix& y, const Vector& weights) {
      numbers.clear();
      for (Index n = 0; n < x.rows(); ++n) layout_.Write(x, y, weights, n, &numbers);
      share_.Add(numbers);
    });
  }

  // Sends every rank its share, in rounds, so that the parcels stay small. Only rank 0 reads.
  void Deal(const RowReader& reader) {
    const Index round = std::max<Index>(1, kParcel / layout_.width());
    const Index rounds = (facts().rows / ranks_.size() + 1 + round - 1) / round;
    Parcels out;
    Parcels in;
    FetchedRows read;
    std::vector<Index> numbers;
    std::vector<double> own;  // of rank 0, which sends itself nothing
    for (Index i = 0; i < rounds; ++i) {
      out.Clear(ranks_.size());
      in.Await(ranks_.size());
      own.clear();
      const auto rows_of = [&](int r) {
        return std::clamp<Index>(FirstOf(r + 1) - FirstOf(r) - i * round, 0, round);
      };
      for (int r = 0; r < ranks_.size() && ranks_.rank() == 0; ++r) {
        numbers.resize(static_cast<std::size_t>(rows_of(r)));
        std::iota(numbers.begin(), numbers.end(), FirstOf(r) + i * round);
        if (!numbers.empty()) reader.read(numbers, &read);
        for (Index n = 0; n < rows_of(r); ++n)
          layout_.Write(read.x, read.y, read.weights, n, r == 0 ? &own : &out.values);
        if (r > 0) out.counts[r] = rows_of(r) * layout_.width();
      }
      if (ranks_.rank() > 0) in.counts[0] = rows_of(ranks_.rank()) * layout_.width();
      ranks_.Exchange(out, &in);
      share_.Add(ranks_.rank() == 0 ? own : in.values);
    }
  }

  TableRows Fetch(std::span<const Index> rows, const SlotPlan& plan,
                  FetchedRows* memory) const override {
    Parcels& out = memory->out;
    Parcels& in = memory->in;
    out.Clear(ranks_.size());
    in.Await(ranks_.size());
    std::vector<std::vector<Index>> wanted(ranks_.size());  // [rank]: of my rows
    std::vector<std::vector<Index>> places(ranks_.size());  // [rank]: where its rows go
    memory->places.assign(rows.size(), -1);
    Index coming = 0;
    for (Index c = 0; c < plan.chunks(); ++c) {
      const int user = RankOfSlot(c % plan.slots, plan.slots, ranks_.size());
      const Index end = std::min(plan.rows, (c + 1) * plan.chunk_rows);
      for (Index i = c * plan.chunk_rows; i < end; ++i) {
        const int owner = OwnerOf(rows[i]);
        if (owner == ranks_.rank()) wanted[user].push_back(rows[i]);
        if (user != ranks_.rank()) continue;
        places[owner].push_back(coming);
        memory->places[i] = coming++;
      }
    }
    for (int r = 0; r < ranks_.size(); ++r) {
      for (const Index row : wanted[r]) share_.Append(row - FirstOf(ranks_.rank()), &out.values);
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
    const auto next = std::upper_bound(firsts_.begin() + 1, firsts_.end() - 1, row);
    return static_cast<int>(next - firsts_.begin()) - 1;
  }

  const Communicator& ranks_;
  RowLayout layout_;
  std::vector<Index> firsts_;  // [ranks + 1]
  Share share_;
};

std::unique_ptr<SharedRows> InEqualRanges(const TableFacts& facts, const Communicator& ranks,
                                          double memory) {
  return std::make_unique<SharedRows>(facts, EqualRanges(facts.rows, ranks.size()), ranks, memory);
}

}  // namespace

std::unique_ptr<RowSource> RowsHere(const Moments& x, const Matrix& y, Vector weights) {
  return std::make_unique<InMemory>(x, y, std::move(weights));
}

std::unique_ptr<RowSource> RowsElsewhere(RowReader reader) {
  return std::make_unique<OnDisk>(std::move(reader));
}

std::unique_ptr<RowSource> ShareRows(const Moments& x, const Matrix& y, const Vector& weights,
                                     const Communicator& ranks, double memory) {
  if (ranks.size() == 1) return RowsHere(x, y, weights);
  const auto read = [&](std::span<const Index> rows, FetchedRows* to) {
    const std::vector<Index> picked(rows.begin(), rows.end());
    to->x.mean = x.mean(picked, Eigen::all);
    to->x.var = x.var(picked, Eigen::all);
    to->y = y(picked, Eigen::all);
    if (weights.size() > 0) to->weights = weights(picked);
  };
  return ShareRows({FactsOf(x, y, weights), read}, ranks, memory);
}

std::unique_ptr<RowSource> ShareRows(RowReader reader, const Communicator& ranks, double memory) {
  if (ranks.size() == 1) return RowsElsewhere(std::move(reader));
  ranks.Broadcast(std::span(&reader.facts, 1));
  ranks.Broadcast(std::span(&memory, 1));
  auto rows = InEqualRanges(reader.facts, ranks, memory);
  rows->Deal(reader);
  return rows;
}

std::unique_ptr<RowSource> ReceiveRows(const Communicator& ranks) {
  TableFacts facts;
  double memory = 0;
  ranks.Broadcast(std::span(&facts, 1));
  ranks.Broadcast(std::span(&memory, 1));
  auto rows = InEqualRanges(facts, ranks, memory);
  rows->Deal({});
  return rows;
}

namespace {

// Added in the order of the rows, one rank after the other.
double MeanWeight(const RowsInPlace& rows, const Communicator& ranks) {
  auto bits = std::bit_cast<std::uint64_t>(0.0);
  InTurn(ranks, &bits, [&] {
    auto sum = std::bit_cast<double>(bits);
    DoOwnPart(ranks, [&] {
      rows.for_each_block([&](const Moments& /*x*/, const Matrix& /*y*/, const Vector& weights) {
        for (const double weight : weights) sum += weight;
      });
    });
    bits = std::bit_cast<std::uint64_t>(sum);
  });
  return std::bit_cast<double>(bits) / static_cast<double>(rows.firsts.back());
}

}  // namespace

std::unique_ptr<RowSource> KeepRows(const RowsInPlace& rows, const Communicator& ranks,
                                    double memory) {
  ranks.Broadcast(std::span(&memory, 1));
  TableFacts facts = rows.facts;
  facts.rows = rows.firsts.back();
  facts.uncertain = ranks.Largest(static_cast<int>(facts.uncertain));
  // A rank without rows does not know that they have weights.
  facts.weighted = ranks.Largest(static_cast<int>(facts.weighted));
  if (facts.weighted != 0) facts.mean_weight = MeanWeight(rows, ranks);
  auto shared = std::make_unique<SharedRows>(facts, rows.firsts, ranks, memory);
  DoOwnPart(ranks, [&] { shared->Take(rows); });
  return shared;
}

void FactsCollector::Add(const Moments& x, const Matrix& y, const Vector& weights) {
  FATHOM_CHECK(x.rows() == y.rows());
  FATHOM_CHECK(weights.size() == 0 || (weights.size() == x.rows() && weights.minCoeff() > 0));
  facts_.rows += x.rows();
  facts_.inputs = x.cols();
  facts_.targets = y.cols();
  // In the order of memory, in which Eigen's any() does not go.
  const auto is_uncertain = [](double var) { return var != 0; };
  if (std::any_of(x.var.data(), x.var.data() + x.var.size(), is_uncertain)) facts_.uncertain = 1;
  if (weights.size() > 0) facts_.weighted = 1;
  for (const double weight : weights) weight_sum_ += weight;  // in the order of the rows
}

const TableFacts& FactsCollector::facts() {
  if (facts_.weighted != 0) facts_.mean_weight = weight_sum_ / static_cast<double>(facts_.rows);
  return facts_;
}

}  // namespace fathom
