#include "fathom/inference/sep.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"

namespace fathom {

Sep::Sep(DeepGp start, const Moments& x, const Matrix& y, FactorOptions options,
         const ThreadPool& pool)
    : FactorInference(std::move(start), x, y, std::move(options), pool),
      energy_(shape_, x, y,
              {.alpha = options_.alpha,
               .noise_floor = options_.noise_floor,
               .weights = options_.weights},
              pool) {
  for (const GpLayer& layer : shape_.layers) {
    total_.emplace_back();
    q_.emplace_back(layer.gps.size());
    for (std::size_t d = 0; d < layer.gps.size(); ++d) {
      total_.back().push_back(ToNatural(std::get<Whitened>(layer.gps[d].posterior)));
      if (!ToBelief(total_.back()[d], &q_.back()[d]))
        throw NumericalError("the starting posterior is not a distribution");
    }
  }
}

void Sep::NewFactors::Add(const Natural& factor, double weight) {
  sum.h += weight * factor.h;
  sum.T += weight * factor.T;
  rows += weight;
}

PerFunction<Sep::NewFactors> Sep::NoFactors() const {
  PerFunction<NewFactors> none;
  for (const GpLayer& layer : shape_.layers) {
    none.emplace_back();
    for (const SparseGp& gp : layer.gps)
      none.back().push_back({Natural::Zero(gp.num_inducing()), 0});
  }
  return none;
}

void Sep::MatchRow(const Point& point, const PerFunction<Belief>& cavities, double weight,
                   RowStep* step, PerFunction<NewFactors>* out) const {
  CavitySlopes slopes;
  Natural factor;
  for (Index l = first_dense_; l < shape_.num_layers(); ++l) {
    for (std::size_t d = 0; d < cavities[l].size(); ++d) {
      WhitenSlopes(step->FunctionSlopes(l, static_cast<Index>(d)).cavity,
                   point.grams[l][d].L_inverse, &slopes);
      if (!MatchMoments(cavities[l][d], slopes, options_.alpha, &factor)) continue;
      if (factor.h.allFinite() && factor.T.allFinite()) (*out)[l][d].Add(factor, weight);
    }
  }
}

PerFunction<Sep::NewFactors> Sep::MatchRows(const Point& point, const PerFunction<Belief>& cavities,
                                            std::span<const Index> rows) const {
  const auto count = static_cast<Index>(rows.size());
  CertainLayer first;
  if (first_dense_ == 1) {
    ProjectFirstLayer(point, rows, &first);
    for (std::size_t d = 0; d < first.rows.size(); ++d)
      first.moments[d] = MomentsAlong(cavities[0][d], nullptr, first.rows[d].C);
    ObserveFirstLayer(point.model, &first);
  }
  PerFunction<Conditioned> conditioned;
  for (const auto& layer : cavities) conditioned.emplace_back(layer.size());
  ForFunctions(first_dense_, [&](Index l, Index d) {
    Condition(cavities[l][d], point.grams[l][d].L_inverse, &conditioned[l][d]);
  });
  std::vector<PerFunction<NewFactors>> slots(RowSteps::NumSlots(count), NoFactors());
  std::vector<char> begun(slots.size(), 0);
  RowSteps steps;
  steps.Run(point.model, first_dense_, uncertain_inputs_, count, pool_,
            [&](RowStep* step, Index s, Index i) {
              for (Index l = first_dense_; begun[s] == 0 && l < shape_.num_layers(); ++l) {
                for (std::size_t d = 0; d < conditioned[l].size(); ++d)
                  step->SetCavity(l, static_cast<Index>(d), conditioned[l][d]);
              }
              begun[s] = 1;
              const Moments raw = RawRow(rows[i]);
              const Moments below = first_dense_ == 1 ? RowOf(first.out, i) : raw;
              step->Run(options_.alpha, below, raw, y_.row(rows[i]).data());
              if (first_dense_ == 1) {
                first.d_out.mean.row(i) = step->d_below().mean;
                first.d_out.var.row(i) = step->d_below().var;
              }
              MatchRow(point, cavities, weights_[rows[i]], step, &slots[s]);
            });
  for (std::size_t s = 1; s < slots.size(); ++s) {
    for (std::size_t l = 0; l < slots[0].size(); ++l) {
      for (std::size_t d = 0; d < slots[0][l].size(); ++d) {
        NewFactors& total = slots[0][l][d];
        const NewFactors& part = slots[s][l][d];
        total.sum.h += part.sum.h;
        total.sum.T += part.sum.T;
        total.rows += part.rows;
      }
    }
  }
  if (first_dense_ == 1) MatchFirstLayer(rows, first, &slots[0]);
  return std::move(slots[0]);
}

void Sep::MatchFirstLayer(std::span<const Index> rows, const CertainLayer& first,
                          PerFunction<NewFactors>* out) const {
  const auto count = static_cast<Index>(rows.size());
  for (std::size_t d = 0; d < first.rows.size(); ++d) {
    const auto column = static_cast<Index>(d);
    NewFactors& found = (*out)[0][d];
    Vector h = Vector::Zero(count);
    Vector T = Vector::Zero(count);
    for (Index i = 0; i < count; ++i) {
      LineFactor factor;
      if (!MatchMoments(first.moments[d].t[i], first.moments[d].s[i], first.d_out.mean(i, column),
                        first.d_out.var(i, column), options_.alpha, &factor) ||
          !std::isfinite(factor.h) || !std::isfinite(factor.T)) {
        continue;
      }
      const double weight = weights_[rows[i]];
      h[i] = weight * factor.h;
      T[i] = weight * factor.T;
      found.rows += weight;
    }
    const Matrix& C = first.rows[d].C;
    found.sum.h = C.transpose() * h;
    found.sum.T = Product(Transposed(C), {T.asDiagonal() * C});
  }
}

bool Sep::TryStep(double beta, const PerFunction<NewFactors>& found, double* change) {
  PerFunction<Natural> total = total_;
  PerFunction<Belief> q = q_;
  *change = 0;
  for (std::size_t l = 0; l < total.size(); ++l) {
    for (std::size_t d = 0; d < total[l].size(); ++d) {
      const NewFactors& factors = found[l][d];
      if (factors.rows == 0) continue;
      const double scale = beta * N_ / factors.rows;
      total[l][d].h = (1 - beta) * total[l][d].h + scale * factors.sum.h;
      total[l][d].T = (1 - beta) * total[l][d].T + scale * factors.sum.T;
      if (!ToBelief(total[l][d], &q[l][d])) return false;
      *change = std::max(*change, (q[l][d].m - q_[l][d].m).cwiseAbs().maxCoeff());
    }
  }
  total_ = std::move(total);
  q_ = std::move(q);
  return true;
}

double Sep::Update(const Vector& parameters, std::span<const Index> rows) {
  double counts = 0;
  for (const Index n : rows) counts += weights_[n];
  return Update(parameters, rows, options_.step * counts / N_);
}

double Sep::Update(const Vector& parameters, std::span<const Index> rows, double beta) {
  const Point point = At(parameters);
  // A mixture of prior and posterior in natural parameters: a distribution, as q is one.
  const double rest = 1 - options_.alpha / N_;
  PerFunction<Belief> cavities;
  for (const auto& layer : total_) {
    cavities.emplace_back(layer.size());
    for (std::size_t d = 0; d < layer.size(); ++d)
      FATHOM_CHECK(ToBelief({rest * layer[d].h, rest * layer[d].T}, &cavities.back()[d]));
  }
  const PerFunction<NewFactors> found = MatchRows(point, cavities, rows);
  constexpr int kShortest = 10;  // halvings of the step
  double change = 0;
  for (int tries = 0; tries <= kShortest; ++tries, beta *= 0.5) {
    if (TryStep(beta, found, &change)) return change;
  }
  return 0;
}

bool Sep::Evaluate(const Vector& parameters, const Batch& batch, double* value, Vector* gradient,
                   std::string* reason) const {
  return EvaluateSafely(
      [&](DeepGp* d_model) {
        if (!parameters.allFinite()) throw NumericalError("a parameter is not finite");
        const DeepGp model = Posterior(parameters);
        const double F = energy_.Energy(model, batch, d_model).F;
        return std::pair(F, model);
      },
      value, gradient, reason);
}

DeepGp Sep::Posterior(const Vector& parameters) const {
  DeepGp model = shape_;
  Unpack(parameters, packing(), &model);
  for (std::size_t l = 0; l < q_.size(); ++l) {
    for (std::size_t d = 0; d < q_[l].size(); ++d)
      model.layers[l].gps[d].posterior = ToWhitened(q_[l][d]);
  }
  return model;
}

double Sep::Energy(const Vector& parameters, DeepGp* gradient) const {
  std::vector<Index> rows(static_cast<std::size_t>(x_.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  return energy_.Energy(Posterior(parameters), rows, gradient).F;
}

FactorInference::State Sep::SaveState() const {
  State state;
  for (std::size_t l = 0; l < total_.size(); ++l) {
    for (std::size_t d = 0; d < total_[l].size(); ++d) {
      const Natural& total = total_[l][d];
      Matrix& both = state[StateName(static_cast<Index>(l), static_cast<Index>(d))];
      both.resize(total.h.size(), 1 + total.h.size());
      both << total.h, total.T;
    }
  }
  return state;
}

void Sep::RestoreState(const State& state) {
  for (std::size_t l = 0; l < total_.size(); ++l) {
    for (std::size_t d = 0; d < total_[l].size(); ++d) {
      Natural& total = total_[l][d];
      const Index M = total.h.size();
      const Matrix& both =
          StateArray(state, StateName(static_cast<Index>(l), static_cast<Index>(d)), M, 1 + M);
      total = {both.col(0), both.rightCols(M)};
      if (!ToBelief(total, &q_[l][d]))
        ThrowError("the factors of the training do not make a distribution");
    }
  }
}

}  // namespace fathom
