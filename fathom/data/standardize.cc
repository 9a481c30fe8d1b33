#include "fathom/data/standardize.h"

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/data/column_moments.h"

namespace fathom {

bool Scaler::operator==(const Scaler& other) const {
  const auto same = [](const auto& a, const auto& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
  };
  return same(mean, other.mean) && same(scale, other.scale) &&
         same(missing_var, other.missing_var) && same(directions, other.directions) &&
         warps == other.warps;
}

Scaler FitScaler(const Matrix& values, const Vector& weights) {
  ColumnMoments moments(values.cols());
  moments.Add(values, weights, {});
  moments.JoinMeans(Alone());
  moments.AddSquares(values, weights, {});
  moments.JoinSquares(Alone());
  return moments.ToScaler();
}

Moments StandardizeInputs(const Scaler& scaler, const Moments& inputs) {
  FATHOM_CHECK(inputs.cols() == scaler.mean.size());
  const Index columns = inputs.cols();
  Moments out(inputs.rows(), columns + scaler.warps.size());
  for (Index n = 0; n < inputs.rows(); ++n) {
    for (Index c = 0; c < inputs.cols(); ++c) {
      const bool missing = std::isnan(inputs.mean(n, c));
      const double scale = scaler.scale[c];
      out.mean(n, c) = missing ? 0 : (inputs.mean(n, c) - scaler.mean[c]) / scale;
      // Divided twice: the square of a tiny scale would be 0.
      out.var(n, c) = missing ? scaler.missing_var[c] : inputs.var(n, c) / scale / scale;
    }
    for (Index w = 0; w < scaler.warps.size(); ++w) {
      const Index c = scaler.warps.columns[static_cast<std::size_t>(w)];
      const bool missing = std::isnan(inputs.mean(n, c));
      const WarpedValue warped = WarpAt(scaler.warps, w, out.mean(n, c));
      out.mean(n, columns + w) = missing ? 0 : warped.value;
      out.var(n, columns + w) =
          missing ? scaler.missing_var[c] : warped.slope * warped.slope * out.var(n, c);
    }
  }
  if (scaler.directions.size() == 0) return out;
  Moments turned(inputs.rows(), scaler.outputs());
  const Matrix squared = scaler.directions.cwiseAbs2();
  // Row by row, so that the bits of one do not depend on how many there are.
  for (Index n = 0; n < inputs.rows(); ++n) {
    turned.mean.row(n).setZero();
    turned.var.row(n).setZero();
    for (Index c = 0; c < inputs.cols(); ++c) {
      turned.mean.row(n) += out.mean(n, c) * scaler.directions.row(c);
      if (out.var(n, c) != 0) turned.var.row(n) += out.var(n, c) * squared.row(c);
    }
  }
  return turned;
}

Matrix StandardizeTargets(const Scaler& scaler, const Matrix& targets) {
  FATHOM_CHECK(targets.cols() == scaler.mean.size());
  return (targets.rowwise() - scaler.mean.transpose()).array().rowwise() /
         scaler.scale.transpose().array();
}

Prediction Unscale(const Scaler& scaler, Prediction prediction) {
  for (auto& observation : prediction.observations)
    observation = Rescaled(observation, scaler.mean, scaler.scale);
  if (prediction.observed()) return prediction;
  for (Moments& component : prediction.components) {
    FATHOM_CHECK(component.cols() == scaler.mean.size());
    const auto scale = scaler.scale.transpose().array();
    component.mean.array().rowwise() *= scale;
    component.mean.rowwise() += scaler.mean.transpose();
    component.var.array().rowwise() *= scale;
    component.var.array().rowwise() *= scale;
  }
  return prediction;
}

}  // namespace fathom
