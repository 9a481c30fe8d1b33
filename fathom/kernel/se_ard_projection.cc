#include "fathom/kernel/se_ard_projection.h"

#include <algorithm>

#include "fathom/base/error.h"
#include "fathom/kernel/se_ard_loops.h"

namespace fathom {

namespace {

using RowVector = Eigen::RowVectorXd;

bool IsCertain(const Projection::Rows& var, Index n) { return (var.row(n).array() == 0).all(); }

// Calls visit(i, n) for the i-th row of a kind, row n of the tile; returns their number.
template <typename Visit>
Index ForEachOfKind(const Projection::Rows& var, bool certain, Visit visit) {
  Index i = 0;
  for (Index n = 0; n < var.rows(); ++n) {
    if (IsCertain(var, n) == certain) visit(i++, n);
  }
  return i;
}

// The rows of one kind, gathered into contiguous arrays at the begin of the tape, unless all rows
// of the tile are of that kind.
struct Gathered {
  Gathered(Index rows, Index D, double* memory)
      : mean(memory),
        var(mean + rows * D),
        d_mean(var + rows * D),
        d_var(d_mean + rows * D),
        m(d_var + rows * D),
        v(m + rows) {}
  static Index Size(Index rows, Index D) { return PaddedSize(rows * (4 * D + 2)); }
  double *mean, *var, *d_mean, *d_var;  // [rows, D]
  double *m, *v;                        // [rows]
};

se_ard::RowsIn Gather(const Projection::Rows& mean, const Projection::Rows& var, bool certain,
                      const Gathered& out) {
  const Index D = mean.cols();
  const Index rows = ForEachOfKind(var, certain, [&](Index i, Index n) {
    Eigen::Map<RowVector>(out.mean + i * D, D) = mean.row(n);
    Eigen::Map<RowVector>(out.var + i * D, D) = var.row(n);
  });
  return {rows, out.mean, out.var};
}

Index CountCertain(const Projection::Rows& var) {
  Index count = 0;
  for (Index n = 0; n < var.rows(); ++n) count += IsCertain(var, n) ? 1 : 0;
  return count;
}

bool IsContiguous(const Projection::Rows& x) { return x.outerStride() == x.cols(); }

void ScatterAdd(const Projection::Rows& var, bool certain, const double* values,
                Eigen::Ref<Matrix>* out) {
  const Index D = out->cols();
  ForEachOfKind(var, certain, [&](Index i, Index n) {
    out->row(n) += Eigen::Map<const RowVector>(values + i * D, D);
  });
}

}  // namespace

void SeArdProjection::Prepare(const LatentFunction& function, const ProjectionOptions& options) {
  uncertain_ = options.uncertain;
  shape_.M = function.Z.rows();
  shape_.padded = PaddedSize(shape_.M);
  shape_.D = function.Z.cols();
  FATHOM_CHECK(function.theta.size() == shape_.D + 1);
  shape_.variance = function.theta[0];
  shape_.l = function.theta.tail(shape_.D);
  shape_.a = function.a;
  shape_.w = function.w;
  certain_rows_.Prepare(shape_, function, options);
  if (!uncertain_) return;
  psi1_.Prepare(shape_, function);
  const bool few = shape_.D <= se_ard::kMostPairInputs;
  if (few && uncertain_rows_.index() != 0) uncertain_rows_.emplace<0>();
  if (!few && uncertain_rows_.index() != 1) uncertain_rows_.emplace<1>();
  std::visit([&](auto& rows) { rows.Prepare(shape_, function, options); }, uncertain_rows_);
}

Index SeArdProjection::TapeSize(Index rows) const {
  const Index size = Gathered::Size(rows, shape_.D) + certain_rows_.TapeSize(rows);
  if (!uncertain_) return size;
  return size +
         std::visit([&](const auto& way) { return way.TapeSize(shape_, rows); }, uncertain_rows_);
}

Index SeArdProjection::SumsSize() const {
  const Index size = certain_rows_.SumsSize();
  if (!uncertain_) return size;
  return size + std::visit([&](const auto& way) { return way.SumsSize(shape_); }, uncertain_rows_);
}

SeArdProjection::TapeParts SeArdProjection::Split(Index rows, double* tape) const {
  double* const certain = tape + Gathered::Size(rows, shape_.D);
  return {certain, certain + certain_rows_.TapeSize(rows)};
}

void SeArdProjection::Forward(const Input& x, double* tape, double* m, double* v) const {
  const auto& [mean, var] = x;
  const Index N = mean.rows();
  const Gathered part(N, shape_.D, tape);
  const TapeParts tapes = Split(N, tape);
  const Index certain_count = CountCertain(var);
  for (const bool certain : {true, false}) {
    const Index count = certain ? certain_count : N - certain_count;
    if (count == 0) continue;
    const bool in_place = count == N && IsContiguous(mean) && IsContiguous(var);
    const se_ard::RowsIn rows =
        in_place ? se_ard::RowsIn{N, mean.data(), var.data()} : Gather(mean, var, certain, part);
    double* const m_out = in_place ? m : part.m;
    double* const v_out = in_place ? v : part.v;
    if (certain) {
      certain_rows_.Forward(shape_, count, rows.mu, tapes.certain, m_out, v_out);
    } else {
      FATHOM_CHECK(uncertain_);
      std::visit(
          [&](const auto& way) { way.Forward(shape_, psi1_, rows, tapes.uncertain, m_out, v_out); },
          uncertain_rows_);
    }
    if (in_place) return;
    ForEachOfKind(var, certain, [&](Index i, Index n) {
      m[n] = part.m[i];
      v[n] = part.v[i];
    });
  }
}

void SeArdProjection::Backward(const Input& x, double* tape, const Slopes& d_out, double* sums,
                               const InputSlopes& d_x) const {
  const auto& [mean, var] = x;
  const Index D = shape_.D;
  const Index N = mean.rows();
  const Gathered part(N, D, tape);
  const TapeParts tapes = Split(N, tape);
  const Index certain_count = CountCertain(var);
  for (const bool certain : {true, false}) {
    const Index count = certain ? certain_count : N - certain_count;
    if (count == 0) continue;
    const bool in_place = count == N && IsContiguous(mean) && IsContiguous(var);
    const se_ard::RowsIn rows =
        in_place ? se_ard::RowsIn{N, mean.data(), var.data()} : Gather(mean, var, certain, part);
    if (!in_place) {
      ForEachOfKind(var, certain, [&](Index i, Index n) {
        part.m[i] = d_out.m[n];
        part.v[i] = d_out.v[n];
      });
    }
    const se_ard::RowSlopes d_rows =
        in_place ? se_ard::RowSlopes{d_out.m, d_out.v} : se_ard::RowSlopes{part.m, part.v};
    const bool wants_mean = d_x.mean != nullptr, wants_var = d_x.var != nullptr;
    if (wants_mean) std::fill_n(part.d_mean, count * D, 0.0);
    if (wants_var) std::fill_n(part.d_var, count * D, 0.0);
    const se_ard::InputSlopes d_inputs{wants_mean ? part.d_mean : nullptr,
                                       wants_var ? part.d_var : nullptr};
    if (certain) {
      certain_rows_.Backward(shape_, count, tapes.certain, d_rows, sums, d_inputs);
    } else {
      double* const own_sums = sums + certain_rows_.SumsSize();
      std::visit(
          [&](const auto& way) {
            way.Backward(shape_, psi1_, rows, tapes.uncertain, d_rows, own_sums, d_inputs);
          },
          uncertain_rows_);
    }
    if (wants_mean) ScatterAdd(var, certain, part.d_mean, d_x.mean);
    if (wants_var) ScatterAdd(var, certain, part.d_var, d_x.var);
  }
}

void SeArdProjection::Finish(const double* sums, LatentFunctionGradient gradient) const {
  certain_rows_.Finish(shape_, sums, &gradient);
  if (!uncertain_) return;
  std::visit(
      [&](const auto& way) {
        way.Finish(shape_, psi1_, sums + certain_rows_.SumsSize(), &gradient);
      },
      uncertain_rows_);
}

}  // namespace fathom
