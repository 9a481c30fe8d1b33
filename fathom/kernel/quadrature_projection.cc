#include "fathom/kernel/quadrature_projection.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/quadrature.h"
#include "fathom/kernel/se_ard_loops.h"
#include "fathom/kernel/zero_variance.h"

namespace fathom {

namespace {

using MapVector = Eigen::Map<Vector>;
using MapMatrix = Eigen::Map<Matrix>;
using Strided = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

constexpr Index kMost = QuadratureProjection::kMostUncertainInputs;

const HermiteRule& RuleFor(Index uncertain) {
  static const std::array<HermiteRule, kMost + 1> rules = [] {
    std::array<HermiteRule, kMost + 1> all;
    for (Index k = 0; k <= kMost; ++k) all[k] = MakeHermiteRule(QuadratureProjection::kNodes[k]);
    return all;
  }();
  return rules[uncertain];
}

Index Power(Index base, Index exponent) {
  Index power = 1;
  for (Index k = 0; k < exponent; ++k) power *= base;
  return power;
}

// The grid of one row: which inputs are uncertain, and node g's offset along each of them, in
// standard deviations.
class Grid {
 public:
  explicit Grid(const Eigen::Ref<const Eigen::RowVectorXd>& var) {
    for (Index q = 0; q < var.size(); ++q) {
      if (var[q] == 0) continue;
      if (count_ < kMost) inputs_[count_] = q;
      ++count_;
    }
    if (count_ > kMost) return;
    rule_ = &RuleFor(count_);
    nodes_ = Power(QuadratureProjection::kNodes[count_], count_);
  }

  Index count() const { return count_; }  // of uncertain inputs
  Index nodes() const { return nodes_; }
  Index input(Index k) const { return inputs_[k]; }
  double Offset(Index g, Index k) const { return rule_->nodes[Digit(g, k)]; }
  double Weight(Index g) const {
    double weight = 1;
    for (Index k = 0; k < count_; ++k) weight *= rule_->weights[Digit(g, k)];
    return weight;
  }

 private:
  Index Digit(Index g, Index k) const {
    const Index base = rule_->nodes.size();
    return g / Power(base, k) % base;
  }

  std::array<Index, kMost> inputs_{};
  Index count_ = 0;
  Index nodes_ = 1;
  const HermiteRule* rule_ = nullptr;
};

}  // namespace

// Holds the nodes of all rows of the tile.
struct QuadratureProjection::Tape {
  Tape(const QuadratureProjection& of, Index rows, double* memory)
      : capacity(rows * of.MostNodes()),
        K(memory),
        KS(K + capacity * of.padded_),
        scratch(KS + capacity * of.padded_),
        x(scratch + capacity * of.padded_),
        d_x(x + PaddedSize(capacity * of.Z_.cols())),
        weights(d_x + PaddedSize(capacity * of.Z_.cols())),
        m(weights + PaddedSize(capacity)),
        v(m + PaddedSize(capacity)),
        row_m(v + PaddedSize(capacity)),
        end(row_m + PaddedSize(rows)) {}

  Index capacity;   // nodes
  double* K;        // [nodes, padded]
  double* KS;       // [nodes, padded]  the backward pass turns it into dF/dK
  double* scratch;  // [nodes, padded]
  double *x, *d_x;  // [nodes, D]
  double* weights;  // [nodes]
  double *m, *v;    // [nodes]  in the backward pass dF/dm, dF/dv
  double* row_m;    // [rows]
  double* end;
};

struct QuadratureProjection::Sums {
  Sums(const QuadratureProjection& of, double* memory)
      : theta(memory),
        Z(theta + of.theta_.size()),
        a(Z + of.Z_.size()),
        kk(memory + PaddedSize(of.theta_.size() + of.Z_.size() + of.a_.size())),
        end(kk + of.Z_.rows() * of.padded_) {}
  double* theta;
  double* Z;   // [M, D]
  double* a;   // [M]
  double* kk;  // [M, padded]  sum_g d_v k k', lower triangle
  double* end;
};

void QuadratureProjection::Prepare(const LatentFunction& function,
                                   const ProjectionOptions& options) {
  uncertain_ = options.uncertain;
  theta_ = function.theta;
  Z_ = function.Z;
  a_ = function.a;
  w_ = function.w;
  padded_ = PaddedSize(Z_.rows());
  S_.assign(static_cast<std::size_t>(Z_.rows() * padded_), 0.0);
  Strided(S_.data(), Z_.rows(), Z_.rows(), Eigen::OuterStride<>(padded_)) = function.S;
}

Index QuadratureProjection::MostNodes() const {
  Index most = 1;
  for (Index k = 1; uncertain_ && k <= std::min(kMost, Z_.cols()); ++k)
    most = std::max(most, Power(kNodes[k], k));
  return most;
}

Index QuadratureProjection::TapeSize(Index rows) const {
  const Tape tape(*this, rows, nullptr);
  return tape.end - tape.K;
}

Index QuadratureProjection::SumsSize() const {
  const Sums sums(*this, nullptr);
  return sums.end - sums.theta;
}

Index QuadratureProjection::Expand(const Rows& mean, const Rows& var, const Tape& tape) const {
  const Index D = Z_.cols();
  Index at = 0;
  for (Index n = 0; n < mean.rows(); ++n) {
    const Grid grid(var.row(n));
    if (grid.count() > kMost) {
      ThrowError("the kernel '", kernel_.Name(), "' integrates by quadrature over at most ", kMost,
                 " uncertain inputs of a row, but here are ", grid.count(),
                 "; use fewer hidden units or sampled paths, or another kernel");
    }
    FATHOM_CHECK(at + grid.nodes() <= tape.capacity);
    for (Index g = 0; g < grid.nodes(); ++g, ++at) {
      double* const x = tape.x + at * D;
      MapVector(x, D) = mean.row(n).transpose();
      for (Index k = 0; k < grid.count(); ++k) {
        const Index q = grid.input(k);
        x[q] += std::sqrt(var(n, q)) * grid.Offset(g, k);
      }
      tape.weights[at] = grid.Weight(g);
    }
  }
  return at;
}

void QuadratureProjection::Forward(const Input& x, double* tape_memory, double* m,
                                   double* v) const {
  const auto& [mean, var] = x;
  const Index M = Z_.rows();
  const Tape tape(*this, mean.rows(), tape_memory);
  const Index nodes = Expand(mean, var, tape);
  const MapMatrix X(tape.x, nodes, Z_.cols());
  Strided padded(tape.K, nodes, padded_, Eigen::OuterStride<>(padded_));
  padded.rightCols(padded_ - M).setZero();
  kernel_.Cross(theta_, X, Z_, padded.leftCols(M));
  se_ard::RowsTimesMatrix(nodes, M, tape.K, S_.data(), tape.KS);
  MapVector node_v(tape.v, nodes);
  kernel_.Diagonal(theta_, X, node_v);
  Index at = 0;
  for (Index n = 0; n < mean.rows(); ++n) {
    const Index end = at + Grid(var.row(n)).nodes();
    m[n] = 0;
    for (Index g = at; g < end; ++g) {
      const MapVector k(tape.K + g * padded_, M);
      tape.m[g] = k.dot(a_);
      if (w_.size() > 0) tape.m[g] += w_.dot(MapVector(tape.x + g * Z_.cols(), Z_.cols()));
      tape.v[g] -= k.dot(MapVector(tape.KS + g * padded_, M));
      m[n] += tape.weights[g] * tape.m[g];
    }
    v[n] = 0;
    for (Index g = at; g < end; ++g) {
      const double offset = tape.m[g] - m[n];
      v[n] += tape.weights[g] * (tape.v[g] + offset * offset);
    }
    tape.row_m[n] = m[n];
    at = end;
  }
}

void QuadratureProjection::Backward(const Input& x, double* tape_memory, const Slopes& d_out,
                                    double* sums_memory, const InputSlopes& d_x) const {
  const auto& [mean, var] = x;
  const auto& [d_m, d_v] = d_out;
  const Index M = Z_.rows();
  const Index D = Z_.cols();
  const Tape tape(*this, mean.rows(), tape_memory);
  const Sums sums(*this, sums_memory);
  MapVector a_sum(sums.a, M);
  Index nodes = 0;
  for (Index n = 0; n < mean.rows(); ++n) {
    const Index end = nodes + Grid(var.row(n)).nodes();
    for (Index g = nodes; g < end; ++g) {
      const double weight = tape.weights[g];
      tape.m[g] = weight * (d_m[n] + 2 * d_v[n] * (tape.m[g] - tape.row_m[n]));
      tape.v[g] = weight * d_v[n];
      a_sum += tape.m[g] * MapVector(tape.K + g * padded_, M);
      MapVector dK(tape.KS + g * padded_, M);
      dK = tape.m[g] * a_ - 2 * tape.v[g] * dK;
    }
    nodes = end;
  }
  se_ard::SymmetricRankUpdate(nodes, M, tape.v, tape.K, tape.scratch, sums.kk);
  const MapMatrix X(tape.x, nodes, D);
  MapMatrix d_X(tape.d_x, nodes, D);
  d_X.setZero();
  if (w_.size() > 0) d_X.noalias() = MapVector(tape.m, nodes) * w_.transpose();
  Eigen::Ref<Matrix> d_X_ref(d_X);
  MapVector d_theta(sums.theta, theta_.size());
  kernel_.CrossBackward(theta_, X, Z_, Strided(tape.K, nodes, M, Eigen::OuterStride<>(padded_)),
                        Strided(tape.KS, nodes, M, Eigen::OuterStride<>(padded_)),
                        {d_theta, &d_X_ref, MapMatrix(sums.Z, M, D)});
  kernel_.DiagonalBackward(theta_, X, MapVector(tape.v, nodes), d_theta, &d_X_ref);
  if (d_x.var != nullptr) AddZeroVarianceSlopes(var, tape, nodes, d_x.var);
  if (d_x.mean == nullptr && d_x.var == nullptr) return;
  Index at = 0;
  for (Index n = 0; n < mean.rows(); ++n) {
    const Grid grid(var.row(n));
    for (Index g = 0; g < grid.nodes(); ++g, ++at) {
      if (d_x.mean != nullptr) d_x.mean->row(n) += d_X.row(at);
      for (Index k = 0; d_x.var != nullptr && k < grid.count(); ++k) {
        const Index q = grid.input(k);
        (*d_x.var)(n, q) += d_X(at, q) * grid.Offset(g, k) / (2 * std::sqrt(var(n, q)));
      }
    }
  }
}

// Inputs without variance, of every node: there tape.m, tape.v and tape.KS are dF/dm, dF/dv and
// dF/dk by now.
void QuadratureProjection::AddZeroVarianceSlopes(const Rows& var, const Tape& tape, Index nodes,
                                                 Eigen::Ref<Matrix>* d_var) const {
  const Index M = Z_.rows();
  const MapMatrix X(tape.x, nodes, Z_.cols());
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> S(S_.data(), M, M,
                                                            Eigen::OuterStride<>(padded_));
  Kernel::Along along;
  Vector first(M);
  Vector second(M);
  Vector S_first(M);
  for (Index q = 0; q < Z_.cols(); ++q) {
    if (!(var.col(q).array() == 0).any()) continue;
    kernel_.CrossAlong(theta_, X, Z_, q, &along);
    Index at = 0;
    for (Index n = 0; n < var.rows(); ++n) {
      const Index end = at + Grid(var.row(n)).nodes();
      for (; at < end; ++at) {
        if (var(n, q) != 0) continue;
        first = along.first.row(at).transpose();
        second = along.second.row(at).transpose();
        S_first.noalias() = S * first;
        const double w = w_.size() > 0 ? w_[q] : 0;
        (*d_var)(n, q) += ZeroVarianceSlope({first, second, S_first, along.diagonal_second[at], w},
                                            a_, MapVector(tape.KS + at * padded_, M), tape.v[at]);
      }
    }
  }
}

void QuadratureProjection::Finish(const double* sums_memory,
                                  LatentFunctionGradient gradient) const {
  const Index M = Z_.rows();
  const Sums sums(*this, const_cast<double*>(sums_memory));  // NOLINT: read only
  gradient.theta += MapVector(sums.theta, theta_.size());
  gradient.Z += MapMatrix(sums.Z, M, Z_.cols());
  gradient.a += MapVector(sums.a, M);
  for (Index i = 0; i < M; ++i) {
    for (Index j = 0; j <= i; ++j) {
      gradient.S(i, j) -= sums.kk[i * padded_ + j];
      if (j < i) gradient.S(j, i) -= sums.kk[i * padded_ + j];
    }
  }
}

}  // namespace fathom
