#include "fathom/inference/share_functions.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace fathom {

namespace {

// Each function is sent to every rank. With many of them that takes longer than conditioning all
// functions on each: 80 kB for M = 100, against 1.3 ms.
constexpr int kMostSharing = 8;

// What the rows need of a function, and rank 0 of its energy.
template <typename Visitor>
void VisitPrepared(PreparedGp* gp, Visitor* visit) {
  (*visit)(&gp->cavity.a);
  (*visit)(&gp->cavity.S);
  (*visit)(&gp->energy);
  (*visit)(&gp->jitter);
}

// What rank 0 needs of its gradient.
template <typename Visitor>
void VisitGradient(SparseGp* d_gp, Visitor* visit) {
  (*visit)(&d_gp->theta);
  (*visit)(&d_gp->Z);
  if (auto* sites = std::get_if<Sites>(&d_gp->posterior)) {
    (*visit)(&sites->h);
    (*visit)(&sites->R);
  } else {
    (*visit)(&std::get<Whitened>(d_gp->posterior).mu);
    (*visit)(&std::get<Whitened>(d_gp->posterior).Delta);
  }
}

// Visitors: they count the numbers of arrays, append them to a parcel, and take them out of one.
class Count {
 public:
  template <typename Array>
  void operator()(const Array* array) {
    count_ += array->size();
  }
  void operator()(const double* /*number*/) { ++count_; }
  Index count() const { return count_; }

 private:
  Index count_ = 0;
};

class Put {
 public:
  explicit Put(std::vector<double>* values) : values_(*values) {}
  template <typename Array>
  void operator()(const Array* array) {
    values_.insert(values_.end(), array->data(), array->data() + array->size());
  }
  void operator()(const double* number) { values_.push_back(*number); }

 private:
  std::vector<double>& values_;
};

class Take {
 public:
  explicit Take(const std::vector<double>& values) : next_(values.data()) {}
  template <typename Array>
  void operator()(Array* array) {
    std::copy(next_, next_ + array->size(), array->data());
    next_ += array->size();
  }
  void operator()(double* number) { *number = *next_++; }

 private:
  const double* next_;
};

SparseGp* FunctionOf(DeepGp* gradient, const ConditionedModel& gps, Index number) {
  const auto [l, d] = gps.LayerAndFunction(number);
  return &gradient->layers[l].gps[d];
}

}  // namespace

FunctionShares::FunctionShares(const DeepGp& shape, const Communicator& ranks) : ranks_(ranks) {
  if (ranks.size() == 1 || ranks.size() > kMostSharing || shape.full_covariance) return;
  std::vector<double> ends;  // of each function, by cost
  double total = 0;
  for (const GpLayer& layer : shape.layers) {
    for (const SparseGp& gp : layer.gps) {
      total += std::pow(static_cast<double>(gp.num_inducing()), 3);
      ends.push_back(total);
    }
  }
  // A function goes to the rank in whose part of the cost its middle lies.
  begins_.push_back(0);
  for (int r = 1; r <= ranks.size(); ++r) {
    Index f = begins_.back();
    const auto middle = [&](Index i) { return 0.5 * (ends[i] + (i > 0 ? ends[i - 1] : 0)); };
    while (f < static_cast<Index>(ends.size()) && middle(f) * ranks.size() < r * total) ++f;
    begins_.push_back(f);
  }
}

FunctionShare FunctionShares::Of(int rank) const {
  if (!shared()) return {};
  return {begins_[rank], begins_[rank + 1]};
}

Sections FunctionShares::SectionsOf(const Sums::Layout& layout) const {
  std::vector<Index> begins;  // of each function
  for (const std::vector<Sums::Part>& layer : layout.functions) {
    for (const Sums::Part& part : layer) begins.push_back(part.begin);
  }
  begins.push_back(layout.size);
  Sections sections{{0}};
  for (int r = 1; r <= ranks_.size(); ++r) sections.begins.push_back(begins[begins_[r]]);
  return sections;
}

void ExchangeFunctions(const DeepGp& model, const FunctionShares& shares, ConditionedModel* gps,
                       FunctionMemory* memory) {
  if (!shares.shared()) return;
  const Communicator& ranks = shares.ranks();
  Parcels& out = memory->out;
  Parcels& in = memory->in;
  out.Clear(ranks.size());
  in.Await(ranks.size());
  Put put(&out.values);
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    const auto before = static_cast<Index>(out.values.size());
    for (Index f = shares.mine().begin; f < shares.mine().end; ++f)
      VisitPrepared(&gps->function(f), &put);
    out.counts[r] = static_cast<Index>(out.values.size()) - before;
    Count coming;
    for (Index f = shares.Of(r).begin; f < shares.Of(r).end; ++f) {
      const auto [l, d] = gps->LayerAndFunction(f);
      const Index M = model.layers[l].gps[d].num_inducing();
      gps->function(f).cavity.a.resize(M);
      gps->function(f).cavity.S.resize(M, M);
      VisitPrepared(&gps->function(f), &coming);
    }
    in.counts[r] = coming.count();
  }
  ranks.Exchange(out, &in);
  Take take(in.values);
  for (Index f = 0; f < gps->num_functions(); ++f) {
    if (!shares.mine().Holds(f)) VisitPrepared(&gps->function(f), &take);
  }
}

void GatherGradient(const FunctionShares& shares, const ConditionedModel& gps, DeepGp* gradient,
                    FunctionMemory* memory) {
  if (!shares.shared()) return;
  const Communicator& ranks = shares.ranks();
  Parcels& out = memory->out;
  Parcels& in = memory->in;
  out.Clear(ranks.size());
  in.Await(ranks.size());
  const auto visit = [&](FunctionShare share, auto* visitor) {
    for (Index f = share.begin; f < share.end; ++f)
      VisitGradient(FunctionOf(gradient, gps, f), visitor);
  };
  if (ranks.rank() != 0) {
    Put put(&out.values);
    visit(shares.mine(), &put);
    out.counts[0] = static_cast<Index>(out.values.size());
  }
  for (int r = 1; r < ranks.size() && ranks.rank() == 0; ++r) {
    Count coming;
    visit(shares.Of(r), &coming);
    in.counts[r] = coming.count();
  }
  ranks.Exchange(out, &in);
  if (ranks.rank() != 0) return;
  Take take(in.values);
  visit({shares.mine().end, gps.num_functions()}, &take);
}

}  // namespace fathom
