#include "fathom/kernel/se_ard_projection.h"

#include <vector>

#include "fathom/base/error.h"

namespace fathom {

namespace {

// The rows of a tile, gathered by kind into contiguous arrays.
struct Gathered {
  std::vector<Index> rows;
  std::vector<double> mean, var, d_mean, d_var;  // [rows, D]
  std::vector<double> m, v;                      // [rows]
};

bool IsCertain(const Projection::Rows& var, Index n) { return (var.row(n).array() == 0).all(); }

void Gather(const Projection::Rows& mean, const Projection::Rows& var, bool certain,
            Gathered* out) {
  const Index D = mean.cols();
  out->rows.clear();
  out->mean.clear();
  out->var.clear();
  for (Index n = 0; n < mean.rows(); ++n) {
    if (IsCertain(var, n) != certain) continue;
    out->rows.push_back(n);
    out->mean.insert(out->mean.end(), mean.data() + n * mean.outerStride(),
                     mean.data() + n * mean.outerStride() + D);
    if (!certain) {
      out->var.insert(out->var.end(), var.data() + n * var.outerStride(),
                      var.data() + n * var.outerStride() + D);
    }
  }
  out->m.resize(out->rows.size());
  out->v.resize(out->rows.size());
}

void ScatterAdd(const Gathered& part, const std::vector<double>& values, Eigen::Ref<Matrix>* out) {
  const Index D = out->cols();
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    out->row(part.rows[i]) += Eigen::Map<const Eigen::RowVectorXd>(values.data() + i * D, D);
  }
}

// Reused by all tiles that a thread works on, so that a step allocates nothing.
Gathered& Scratch() {
  thread_local Gathered scratch;
  return scratch;
}

}  // namespace

void SeArdProjection::Prepare(const LatentFunction& function, bool uncertain) {
  uncertain_ = uncertain;
  shape_.M = function.Z.rows();
  shape_.padded = PaddedSize(shape_.M);
  shape_.D = function.Z.cols();
  FATHOM_CHECK(function.theta.size() == shape_.D + 1);
  shape_.variance = function.theta[0];
  shape_.l = function.theta.tail(shape_.D);
  shape_.a = function.a;
  shape_.w = function.w;
  certain_rows_.Prepare(shape_, function);
  if (uncertain_) uncertain_rows_.Prepare(shape_, function);
}

Index SeArdProjection::TapeSize(Index rows) const {
  return certain_rows_.TapeSize(rows) + (uncertain_ ? uncertain_rows_.TapeSize(rows) : 0);
}

Index SeArdProjection::SumsSize() const {
  return certain_rows_.SumsSize() + (uncertain_ ? uncertain_rows_.SumsSize() : 0);
}

void SeArdProjection::Forward(const Rows& mean, const Rows& var, double* tape, double* m,
                              double* v) const {
  Gathered& part = Scratch();
  for (const bool certain : {true, false}) {
    Gather(mean, var, certain, &part);
    const auto rows = static_cast<Index>(part.rows.size());
    if (rows == 0) continue;
    if (certain) {
      certain_rows_.Forward(shape_, rows, part.mean.data(), tape, part.m.data(), part.v.data());
    } else {
      FATHOM_CHECK(uncertain_);
      uncertain_rows_.Forward(shape_, rows, part.mean.data(), part.var.data(),
                              tape + certain_rows_.TapeSize(mean.rows()), part.m.data(),
                              part.v.data());
    }
    for (Index i = 0; i < rows; ++i) {
      m[part.rows[i]] = part.m[i];
      v[part.rows[i]] = part.v[i];
    }
  }
}

void SeArdProjection::Backward(const Rows& mean, const Rows& var, double* tape, const double* d_m,
                               const double* d_v, double* sums, Eigen::Ref<Matrix>* d_mean,
                               Eigen::Ref<Matrix>* d_var) const {
  Gathered& part = Scratch();
  for (const bool certain : {true, false}) {
    Gather(mean, var, certain, &part);
    const auto rows = static_cast<Index>(part.rows.size());
    if (rows == 0) continue;
    for (Index i = 0; i < rows; ++i) {
      part.m[i] = d_m[part.rows[i]];
      part.v[i] = d_v[part.rows[i]];
    }
    part.d_mean.assign(part.mean.size(), 0.0);
    part.d_var.assign(part.mean.size(), 0.0);
    if (certain) {
      certain_rows_.Backward(shape_, rows, tape, part.m.data(), part.v.data(), sums,
                             d_mean != nullptr ? part.d_mean.data() : nullptr);
    } else {
      uncertain_rows_.Backward(shape_, rows, part.mean.data(), part.var.data(),
                               tape + certain_rows_.TapeSize(mean.rows()), part.m.data(),
                               part.v.data(), sums + certain_rows_.SumsSize(), part.d_mean.data(),
                               part.d_var.data());
    }
    if (d_mean != nullptr) ScatterAdd(part, part.d_mean, d_mean);
    if (d_var != nullptr) ScatterAdd(part, part.d_var, d_var);
  }
}

void SeArdProjection::Finish(const double* sums, LatentFunctionGradient gradient) const {
  certain_rows_.Finish(shape_, sums, &gradient);
  if (uncertain_) uncertain_rows_.Finish(shape_, sums + certain_rows_.SumsSize(), &gradient);
}

}  // namespace fathom
