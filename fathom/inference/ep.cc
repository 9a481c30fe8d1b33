#include "fathom/inference/ep.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/base/memory.h"

namespace fathom {

namespace {

Index PackedSize(Index M) { return M + M * (M + 1) / 2; }

void PackFactor(const Natural& factor, Eigen::Ref<Eigen::RowVectorXd> out) {
  const Index M = factor.h.size();
  out.head(M) = factor.h.transpose();
  for (Index i = 0, at = M; i < M; at += ++i) out.segment(at, i + 1) = factor.T.row(i).head(i + 1);
}

Natural UnpackFactor(const Eigen::Ref<const Eigen::RowVectorXd>& packed, Index M) {
  Natural factor{packed.head(M).transpose(), Matrix(M, M)};
  for (Index i = 0, at = M; i < M; at += ++i) {
    factor.T.row(i).head(i + 1) = packed.segment(at, i + 1);
    factor.T.col(i).head(i) = packed.segment(at, i).transpose();
  }
  return factor;
}

Index SizeFromPacked(Index packed) {
  return static_cast<Index>(
      std::lround((std::sqrt(9.0 + 8.0 * static_cast<double>(packed)) - 3) / 2));
}

std::vector<Index> AllRows(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

Matrix TakeRows(const Matrix& from, std::span<const Index> rows) {
  Matrix out(static_cast<Index>(rows.size()), from.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) out.row(static_cast<Index>(i)) = from.row(rows[i]);
  return out;
}

bool IsProper(Natural factor) {
  factor.T.diagonal().array() += 1;
  return CholeskyInPlace(&factor.T);
}

}  // namespace

double Ep::MemoryNeeded(const DeepGp& model, Index rows, bool uncertain_inputs) {
  double per_row = 0;
  for (Index l = 0; l < model.num_layers(); ++l) {
    for (const SparseGp& gp : model.layers[l].gps) {
      const Index M = gp.num_inducing();
      per_row += static_cast<double>(l == 0 && !uncertain_inputs ? 2 * 2 + M : 2 * PackedSize(M));
    }
  }
  return per_row * static_cast<double>(rows) * sizeof(double);
}

Ep::Ep(DeepGp start, const Moments& x, const Matrix& y, FactorOptions options,
       const ThreadPool& pool)
    : FactorInference(std::move(start), x, y, std::move(options), pool) {
  if (weights_.minCoeff() < options_.alpha) {
    ThrowError(
        "EP takes the share alpha = ", options_.alpha,
        " of a row's factors away from its weight, which must be at least that, but the least "
        "weight is ",
        weights_.minCoeff(), "; scale the weights up, or use the inference 'aep' or 'sep'");
  }
  const double needed = MemoryNeeded(shape_, x.rows(), uncertain_inputs_);
  const double available = AvailableMemory();
  if (needed > available) {
    ThrowError("EP keeps a factor for each of the ", x.rows(), " rows, which takes ",
               MemoryText(needed), " where ", MemoryText(available),
               " are free; use the inference 'sep' or 'aep', or fewer pseudo-points");
  }
  StartFactors(Pack(shape_, packing()));
}

Natural Ep::Factors::At(Index row) const {
  if (!line()) return UnpackFactor(now.row(row), SizeFromPacked(now.cols()));
  const Vector b = directions.row(row).transpose();
  return {now(row, 0) * b, now(row, 1) * b * b.transpose()};
}

Natural Ep::Factors::Sum(const Vector& weights) const {
  if (!line()) return UnpackFactor(weights.transpose() * now, SizeFromPacked(now.cols()));
  const Vector T = weights.cwiseProduct(now.col(1));
  return {directions.transpose() * weights.cwiseProduct(now.col(0)),
          Product(Transposed(directions), {T.asDiagonal() * directions})};
}

Natural Ep::Factor(Index layer, Index function, Index row) const {
  return factors_[layer][function].At(row);
}

// Every row starts with an equal share of the starting posterior. A row with a line factor starts
// as an observation of the starting mean. All are equally precise, so that the trace of the
// precisions is that of the start.
void Ep::StartFactors(const Vector& parameters) {
  const Index N = x_.rows();
  const Point point = At(parameters);
  aligned_at_ = parameters;
  CertainLayer first;
  if (first_dense_ == 1) ProjectFirstLayer(point, AllRows(N), &first);
  for (const GpLayer& layer : shape_.layers) factors_.emplace_back(layer.gps.size());
  ForFunctions(0, [&](Index l, Index d) {
    const auto& q = std::get<Whitened>(shape_.layers[l].gps[d].posterior);
    const Natural start = ToNatural(q);
    Factors& factors = factors_[l][d];
    if (l < first_dense_) {
      const Matrix& C = first.rows[d].C;
      const double precision =
          std::max(0.0, start.T.trace()) / weights_.dot(C.rowwise().squaredNorm());
      factors.now = Matrix::Constant(N, 2, precision);
      factors.now.col(0).array() *= (C * q.mu).array();
      factors.directions = C;
    } else {
      const double share = 1 / N_;
      Eigen::RowVectorXd packed(PackedSize(q.mu.size()));
      PackFactor({share * start.h, share * start.T}, packed);
      factors.now = packed.replicate(N, 1);
    }
    factors.change.setZero(N, factors.now.cols());
  });
  if (!Refresh()) throw NumericalError("the starting posterior is not a distribution");
}

bool Ep::Refresh() {
  PerFunction<char> proper;
  for (const auto& layer : factors_) proper.emplace_back(layer.size(), 0);
  ForFunctions(0, [&](Index l, Index d) {
    Factors& factors = factors_[l][d];
    factors.total = factors.Sum(weights_);
    proper[l][d] = ToBelief(factors.total, &factors.q) ? 1 : 0;
  });
  return std::all_of(proper.begin(), proper.end(), [](const std::vector<char>& layer) {
    return std::all_of(layer.begin(), layer.end(), [](char c) { return c != 0; });
  });
}

void Ep::Realign(const Vector& parameters, const CertainLayer& first) {
  if (first_dense_ == 0) return;
  aligned_at_ = parameters;
  for (std::size_t d = 0; d < factors_[0].size(); ++d) factors_[0][d].directions = first.rows[d].C;
  if (Refresh() && CavitiesAreProper()) return;
  // Turning a line that widens the posterior may leave nothing of it; such lines are dropped.
  for (Factors& factors : factors_[0])
    factors.now = (factors.now.col(1).array() < 0).replicate(1, 2).select(0.0, factors.now);
  if (!Refresh()) throw NumericalError("the posterior is not a distribution any more");
}

std::vector<LineCavities> Ep::FirstLayerUp(const DeepGp& model, std::span<const Index> rows,
                                           CertainLayer* first) const {
  std::vector<LineCavities> cavities(factors_[0].size());
  pool_.Run(static_cast<Index>(cavities.size()), [&](Index d) {
    const Factors& factors = factors_[0][d];
    cavities[d] = DeleteLines(factors.q, TakeRows(factors.directions, rows),
                              TakeRows(factors.now, rows), options_.alpha);
    first->moments[d] = MomentsAlong(factors.q, &cavities[d], first->rows[d].C);
  });
  ObserveFirstLayer(model, first);
  return cavities;
}

bool Ep::SetCavities(const Point& point, Index row, RowStep* step,
                     PerFunction<Belief>* cavities) const {
  cavities->resize(factors_.size());
  Conditioned conditioned;
  for (Index l = first_dense_; l < shape_.num_layers(); ++l) {
    (*cavities)[l].resize(factors_[l].size());
    for (std::size_t d = 0; d < factors_[l].size(); ++d) {
      const Factors& factors = factors_[l][d];
      const Natural own = factors.At(row);
      Belief& cavity = (*cavities)[l][d];
      if (!ToBelief(
              {factors.total.h - options_.alpha * own.h, factors.total.T - options_.alpha * own.T},
              &cavity)) {
        return false;
      }
      Condition(cavity, point.grams[l][d].L_inverse, &conditioned);
      step->SetCavity(l, static_cast<Index>(d), conditioned);
    }
  }
  return true;
}

void Ep::Propose(const Point& point, std::span<const Index> rows, CertainLayer* first) {
  for (auto& layer : factors_) {
    for (Factors& factors : layer) factors.change.setZero();
  }
  std::vector<char> known(rows.size(), 0);
  RowSteps steps;
  steps.Run(point.model, first_dense_, uncertain_inputs_, static_cast<Index>(rows.size()), pool_,
            [&](RowStep* step, Index, Index i) {
              const Index n = rows[i];
              PerFunction<Belief> cavities;
              if (!SetCavities(point, n, step, &cavities)) return;
              const Moments raw = RawRow(n);
              step->Run(options_.alpha, first_dense_ == 1 ? RowOf(first->out, i) : raw, raw,
                        y_.row(n).data());
              known[i] = 1;
              if (first_dense_ == 1) {
                first->d_out.mean.row(i) = step->d_below().mean;
                first->d_out.var.row(i) = step->d_below().var;
              }
              CavitySlopes slopes;
              Natural factor;
              for (Index l = first_dense_; l < shape_.num_layers(); ++l) {
                for (std::size_t d = 0; d < factors_[l].size(); ++d) {
                  WhitenSlopes(step->FunctionSlopes(l, static_cast<Index>(d)).cavity,
                               point.grams[l][d].L_inverse, &slopes);
                  if (!MatchMoments(cavities[l][d], slopes, options_.alpha, &factor)) continue;
                  auto change = factors_[l][d].change.row(n);
                  PackFactor(factor, change);
                  change -= factors_[l][d].now.row(n);
                  if (!change.allFinite()) change.setZero();
                }
              }
            });
  if (first_dense_ == 0) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (known[i] == 0) first->d_out.mean.row(static_cast<Index>(i)).setConstant(std::nan(""));
  }
  ProposeLines(rows, *first);
}

void Ep::ProposeLines(std::span<const Index> rows, const CertainLayer& first) {
  for (std::size_t d = 0; d < factors_[0].size(); ++d) {
    Factors& factors = factors_[0][d];
    const LineMoments& moments = first.moments[d];
    for (Index i = 0; i < static_cast<Index>(rows.size()); ++i) {
      LineFactor factor;
      const auto column = static_cast<Index>(d);
      if (!MatchMoments(moments.t[i], moments.s[i], first.d_out.mean(i, column),
                        first.d_out.var(i, column), options_.alpha, &factor)) {
        continue;
      }
      const Index n = rows[i];
      if (!std::isfinite(factor.h) || !std::isfinite(factor.T)) continue;
      factors.change(n, 0) = factor.h - factors.now(n, 0);
      factors.change(n, 1) = factor.T - factors.now(n, 1);
    }
  }
}

bool Ep::CavitiesAreProper() const {
  const double alpha = options_.alpha;
  if (alpha == 0) return true;
  if (first_dense_ == 1) {
    for (const Factors& factors : factors_[0]) {
      if (!DeleteLines(factors.q, factors.directions, factors.now, alpha).proper()) return false;
    }
  }
  std::vector<char> proper(static_cast<std::size_t>(x_.rows()), 1);
  pool_.Run(x_.rows(), [&](Index n) {
    for (Index l = first_dense_; l < shape_.num_layers(); ++l) {
      for (const Factors& factors : factors_[l]) {
        const Natural own = factors.At(n);
        if (!IsProper({factors.total.h, factors.total.T - alpha * own.T})) proper[n] = 0;
      }
    }
  });
  return std::all_of(proper.begin(), proper.end(), [](char c) { return c != 0; });
}

bool Ep::TryStep(double step) {
  ForFunctions(0, [&](Index l, Index d) { factors_[l][d].now += step * factors_[l][d].change; });
  if (Refresh() && CavitiesAreProper()) return true;
  ForFunctions(0, [&](Index l, Index d) { factors_[l][d].now -= step * factors_[l][d].change; });
  return false;
}

double Ep::Update(const Vector& parameters, std::span<const Index> rows) {
  const Point point = At(parameters);
  CertainLayer first;
  if (first_dense_ == 1) {
    const std::vector<Index> all = AllRows(x_.rows());
    ProjectFirstLayer(point, all, &first);
    Realign(parameters, first);
    if (!std::equal(rows.begin(), rows.end(), all.begin(), all.end()))
      ProjectFirstLayer(point, rows, &first);
    FirstLayerUp(point.model, rows, &first);
  }
  PerFunction<Vector> before;
  for (const auto& layer : factors_) {
    before.emplace_back();
    for (const Factors& factors : layer) before.back().push_back(factors.q.m);
  }
  Propose(point, rows, &first);
  constexpr int kShortest = 10;  // halvings of the step
  double step = options_.step;
  int tries = 0;
  while (!TryStep(step)) {
    if (++tries > kShortest) {
      FATHOM_CHECK(Refresh());
      return 0;
    }
    step *= 0.5;
  }
  double change = 0;
  for (std::size_t l = 0; l < factors_.size(); ++l) {
    for (std::size_t d = 0; d < factors_[l].size(); ++d)
      change = std::max(change, (factors_[l][d].q.m - before[l][d]).cwiseAbs().maxCoeff());
  }
  return change;
}

DeepGp Ep::Posterior(const Vector& parameters) const {
  DeepGp model = shape_;
  Unpack(parameters, packing(), &model);
  for (std::size_t l = 0; l < factors_.size(); ++l) {
    for (std::size_t d = 0; d < factors_[l].size(); ++d)
      model.layers[l].gps[d].posterior = ToWhitened(factors_[l][d].q);
  }
  return model;
}

double Ep::Energy(const Vector& parameters, DeepGp* gradient) const {
  return Energy(At(parameters), AllRows(x_.rows()), gradient);
}

FactorInference::State Ep::SaveState() const {
  State state;
  if (first_dense_ == 1) state["aligned_at"] = aligned_at_.transpose();
  for (std::size_t l = 0; l < factors_.size(); ++l) {
    for (std::size_t d = 0; d < factors_[l].size(); ++d)
      state[StateName(static_cast<Index>(l), static_cast<Index>(d))] = factors_[l][d].now;
  }
  return state;
}

void Ep::RestoreState(const State& state) {
  CertainLayer first;
  if (first_dense_ == 1) {
    aligned_at_ = StateArray(state, "aligned_at", 1, num_parameters_).transpose();
    ProjectFirstLayer(At(aligned_at_), AllRows(x_.rows()), &first);
  }
  for (std::size_t l = 0; l < factors_.size(); ++l) {
    for (std::size_t d = 0; d < factors_[l].size(); ++d) {
      Factors& factors = factors_[l][d];
      factors.now = StateArray(state, StateName(static_cast<Index>(l), static_cast<Index>(d)),
                               factors.now.rows(), factors.now.cols());
      if (factors.line()) factors.directions = first.rows[d].C;
    }
  }
  if (!Refresh()) ThrowError("the factors of the training do not make a distribution");
}

}  // namespace fathom
