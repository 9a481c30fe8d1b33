#include "fathom/kernel/se_ard_projection.h"

#include <algorithm>

#include "fathom/base/error.h"

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

// The rows of one kind, gathered into contiguous arrays at the begin of the tape.
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

Index Gather(const Projection::Rows& mean, const Projection::Rows& var, bool certain,
             const Gathered& out) {
  const Index D = mean.cols();
  return ForEachOfKind(var, certain, [&](Index i, Index n) {
    Eigen::Map<RowVector>(out.mean + i * D, D) = mean.row(n);
    Eigen::Map<RowVector>(out.var + i * D, D) = var.row(n);
  });
}

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
  if (uncertain_) uncertain_rows_.Prepare(shape_, function, options);
}

Index SeArdProjection::TapeSize(Index rows) const {
  return Gathered::Size(rows, shape_.D) + certain_rows_.TapeSize(rows) +
         (uncertain_ ? uncertain_rows_.TapeSize(rows) : 0);
}

Index SeArdProjection::SumsSize() const {
  return certain_rows_.SumsSize() + (uncertain_ ? uncertain_rows_.SumsSize() : 0);
}

SeArdProjection::TapeParts SeArdProjection::Split(Index rows, double* tape) const {
  double* const certain = tape + Gathered::Size(rows, shape_.D);
  return {certain, certain + certain_rows_.TapeSize(rows)};
}

void SeArdProjection::Forward(const Input& x, double* tape, double* m, double* v) const {
  const auto& [mean, var] = x;
  const Gathered part(mean.rows(), shape_.D, tape);
  const TapeParts tapes = Split(mean.rows(), tape);
  for (const bool certain : {true, false}) {
    const Index rows = Gather(mean, var, certain, part);
    if (rows == 0) continue;
    if (certain) {
      certain_rows_.Forward(shape_, rows, part.mean, tapes.certain, part.m, part.v);
    } else {
      FATHOM_CHECK(uncertain_);
      uncertain_rows_.Forward(shape_, {rows, part.mean, part.var}, tapes.uncertain, part.m, part.v);
    }
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
  const Gathered part(mean.rows(), D, tape);
  const TapeParts tapes = Split(mean.rows(), tape);
  for (const bool certain : {true, false}) {
    const Index rows = Gather(mean, var, certain, part);
    if (rows == 0) continue;
    ForEachOfKind(var, certain, [&](Index i, Index n) {
      part.m[i] = d_out.m[n];
      part.v[i] = d_out.v[n];
    });
    std::fill_n(part.d_mean, rows * D, 0.0);
    std::fill_n(part.d_var, rows * D, 0.0);
    if (certain) {
      certain_rows_.Backward(
          shape_, rows, tapes.certain, {part.m, part.v}, sums,
          {d_x.mean != nullptr ? part.d_mean : nullptr, d_x.var != nullptr ? part.d_var : nullptr});
    } else {
      uncertain_rows_.Backward(shape_, {rows, part.mean, part.var}, tapes.uncertain,
                               {part.m, part.v}, sums + certain_rows_.SumsSize(),
                               {part.d_mean, part.d_var});
    }
    if (d_x.mean != nullptr) ScatterAdd(var, certain, part.d_mean, d_x.mean);
    if (d_x.var != nullptr) ScatterAdd(var, certain, part.d_var, d_x.var);
  }
}

void SeArdProjection::Finish(const double* sums, LatentFunctionGradient gradient) const {
  certain_rows_.Finish(shape_, sums, &gradient);
  if (uncertain_) uncertain_rows_.Finish(shape_, sums + certain_rows_.SumsSize(), &gradient);
}

}  // namespace fathom
