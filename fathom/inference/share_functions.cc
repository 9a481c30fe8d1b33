#include "fathom/inference/share_functions.h"

#include <algorithm>
#include <variant>

namespace fathom {

namespace {

// Each function is sent to every rank. With many of them that takes longer than conditioning all
// functions on each: 80 kB for M = 100, against 1.3 ms.
bool AreShared(const Communicator& ranks) {
  constexpr int kMost = 8;
  return ranks.size() > 1 && ranks.size() <= kMost;
}

// What the rows need of a function, and rank 0 of its energy.
template <typename Visitor>
void VisitPrepared(PreparedGp* gp, Visitor* visit) {
  (*visit)(&gp->cavity.a);
  (*visit)(&gp->cavity.S);
  (*visit)(&gp->energy);
  (*visit)(&gp->jitter);
}

// What whoever prepared a function needs of the rows' gradient.
template <typename Visitor>
void VisitRowsGradient(SparseGp* d_gp, PreparedGp* gp, Visitor* visit) {
  (*visit)(&d_gp->theta);
  (*visit)(&d_gp->Z);
  (*visit)(&gp->d_cavity.a);
  (*visit)(&gp->d_cavity.S);
}

// What comes back.
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

template <typename Visitor>
void ForEachFunctionOf(int rank, const Communicator& ranks, const ConditionedModel& gps,
                       const Visitor& visit) {
  const FunctionShare share{rank, ranks.size()};
  for (Index f = 0; f < gps.num_functions(); ++f) {
    if (share.Holds(f)) visit(f);
  }
}

SparseGp* FunctionOf(DeepGp* gradient, const ConditionedModel& gps, Index number) {
  const auto [l, d] = gps.LayerAndFunction(number);
  return &gradient->layers[l].gps[d];
}

}  // namespace

FunctionShare ShareOf(const Communicator& ranks) {
  if (!AreShared(ranks)) return {};
  return {ranks.rank(), ranks.size()};
}

void ExchangeFunctions(const DeepGp& model, const Communicator& ranks, ConditionedModel* gps,
                       FunctionMemory* memory) {
  if (!AreShared(ranks)) return;
  Parcels& out = memory->out;
  Parcels& in = memory->in;
  out.Clear(ranks.size());
  in.Clear(ranks.size());
  Put put(&out.values);
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    const auto before = static_cast<Index>(out.values.size());
    ForEachFunctionOf(ranks.rank(), ranks, *gps,
                      [&](Index f) { VisitPrepared(&gps->function(f), &put); });
    out.counts[r] = static_cast<Index>(out.values.size()) - before;
    Count coming;
    ForEachFunctionOf(r, ranks, *gps, [&](Index f) {
      const auto [l, d] = gps->LayerAndFunction(f);
      const Index M = model.layers[l].gps[d].num_inducing();
      gps->function(f).cavity.a.resize(M);
      gps->function(f).cavity.S.resize(M, M);
      VisitPrepared(&gps->function(f), &coming);
    });
    in.counts[r] = coming.count();
  }
  ranks.Exchange(out, &in);
  Take take(in.values);
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    ForEachFunctionOf(r, ranks, *gps, [&](Index f) { VisitPrepared(&gps->function(f), &take); });
  }
}

void BackwardTogether(const DeepGp& model, const Communicator& ranks, const ThreadPool& pool,
                      ConditionedModel* gps, DeepGp* gradient, FunctionMemory* memory) {
  if (!AreShared(ranks)) {
    if (ranks.rank() == 0) gps->BackwardOfShare(model, pool, gradient);
    return;
  }
  Parcels& out = memory->out;
  Parcels& in = memory->in;
  out.Clear(ranks.size());
  in.Clear(ranks.size());
  Put put(&out.values);
  for (int r = 1; r < ranks.size() && ranks.rank() == 0; ++r) {
    const auto before = static_cast<Index>(out.values.size());
    ForEachFunctionOf(r, ranks, *gps, [&](Index f) {
      VisitRowsGradient(FunctionOf(gradient, *gps, f), &gps->function(f), &put);
    });
    out.counts[r] = static_cast<Index>(out.values.size()) - before;
  }
  if (ranks.rank() != 0) {
    Count coming;
    ForEachFunctionOf(ranks.rank(), ranks, *gps, [&](Index f) {
      SparseGp* d_gp = FunctionOf(gradient, *gps, f);
      d_gp->SetZero();
      gps->function(f).d_cavity.SetZero(d_gp->num_inducing());
      VisitRowsGradient(d_gp, &gps->function(f), &coming);
    });
    in.counts[0] = coming.count();
  }
  ranks.Exchange(out, &in);
  if (ranks.rank() != 0) {
    Take take(in.values);
    ForEachFunctionOf(ranks.rank(), ranks, *gps, [&](Index f) {
      VisitRowsGradient(FunctionOf(gradient, *gps, f), &gps->function(f), &take);
    });
  }
  DoTogether(ranks, [&] { gps->BackwardOfShare(model, pool, gradient); });

  out.Clear(ranks.size());
  in.Clear(ranks.size());
  if (ranks.rank() != 0) {
    ForEachFunctionOf(ranks.rank(), ranks, *gps,
                      [&](Index f) { VisitGradient(FunctionOf(gradient, *gps, f), &put); });
    out.counts[0] = static_cast<Index>(out.values.size());
  }
  for (int r = 1; r < ranks.size() && ranks.rank() == 0; ++r) {
    Count coming;
    ForEachFunctionOf(r, ranks, *gps,
                      [&](Index f) { VisitGradient(FunctionOf(gradient, *gps, f), &coming); });
    in.counts[r] = coming.count();
  }
  ranks.Exchange(out, &in);
  Take take(in.values);
  for (int r = 1; r < ranks.size() && ranks.rank() == 0; ++r) {
    ForEachFunctionOf(r, ranks, *gps,
                      [&](Index f) { VisitGradient(FunctionOf(gradient, *gps, f), &take); });
  }
}

}  // namespace fathom
