#include "fathom/data/standardize.h"

#include <cmath>

#include "fathom/base/error.h"

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
  return FitScaler(values.cols(), [&](const VisitValues& visit) { visit(values, weights); });
}

Scaler FitScaler(Index columns, const std::function<void(const VisitValues& visit)>& for_each) {
  // long double for its range: the square of 1e200 overflows a double.
  using Wide = Eigen::Array<long double, 1, Eigen::Dynamic>;
  // Sums of differences from the first number of each column: exact zeros if the column is
  // constant.
  Wide first = Wide::Zero(columns), sum = Wide::Zero(columns), squares = Wide::Zero(columns);
  Wide count = Wide::Zero(columns);
  const auto weight = [](const Vector& weights, Index n) {
    return weights.size() == 0 ? 1.0L : weights[n];
  };
  for_each([&](const Matrix& values, const Vector& weights) {
    FATHOM_CHECK(weights.size() == 0 || weights.size() == values.rows());
    for (Index n = 0; n < values.rows(); ++n) {
      for (Index c = 0; c < columns; ++c) {
        const double value = values(n, c);
        if (std::isnan(value)) continue;
        if (count[c] == 0) first[c] = value;
        sum[c] += weight(weights, n) * (value - first[c]);
        count[c] += weight(weights, n);
      }
    }
  });
  count = (count == 0).select(1, count);
  const Wide mean = first + sum / count;
  for_each([&](const Matrix& values, const Vector& weights) {
    for (Index n = 0; n < values.rows(); ++n) {
      for (Index c = 0; c < columns; ++c) {
        const long double difference = values(n, c) - mean[c];
        if (!std::isnan(difference)) squares[c] += weight(weights, n) * difference * difference;
      }
    }
  });

  Scaler scaler;
  scaler.mean = mean.cast<double>().matrix().transpose();
  scaler.scale = (squares / count).sqrt().cast<double>().matrix().transpose();
  scaler.missing_var = Vector::Ones(columns);
  for (Index c = 0; c < columns; ++c) {
    if (scaler.scale[c] > 0) continue;
    scaler.scale[c] = 1;
    scaler.missing_var[c] = 0;
  }
  return scaler;
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
