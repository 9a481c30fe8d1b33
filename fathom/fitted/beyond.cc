#include "fathom/fitted/beyond.h"

#include <cmath>

#include "fathom/base/error.h"

namespace fathom {

Vector DistancesBeyond(const Vector& lengthscales, const Matrix& x, const Matrix& edge) {
  return ((x - edge) * lengthscales.cwiseInverse().asDiagonal()).rowwise().norm();
}

Matrix MeanBeyond(Course course, const Vector& distance, const Matrix& line_at_edge,
                  const Matrix& line, const Matrix& mean) {
  if (course == Course::kStay) return mean;
  Matrix there = mean + line - line_at_edge;
  if (course == Course::kLine) {
    const Vector back = 1 - (-distance.array()).exp();
    there += back.asDiagonal() * (line_at_edge - mean);
  }
  return there;
}

void GoBeyond(const Beyond& beyond, const Moments& x, const Moments& edge, Moments* centre) {
  const Vector d = DistancesBeyond(beyond.lengthscales, x.mean, edge.mean);
  centre->mean =
      MeanBeyond(beyond.course, d, beyond.Line(edge.mean), beyond.Line(x.mean), centre->mean);
  Matrix grown = d.array().pow(beyond.power).matrix() * beyond.growth.transpose();
  if (beyond.limit > 0) grown = grown.cwiseMin(beyond.limit);
  centre->var += grown.cwiseAbs2();
}

void CheckBeyond(const Beyond& beyond, Index inputs, Index targets) {
  if (beyond.lengthscales.size() != inputs || beyond.slope.rows() != inputs ||
      beyond.slope.cols() != targets || beyond.intercept.size() != targets ||
      beyond.growth.size() != targets)
    ThrowError("what it knows of rows beyond the training does not fit the model");
  if (!(beyond.lengthscales.array() > 0).all() || !beyond.lengthscales.allFinite() ||
      !beyond.slope.allFinite() || !beyond.intercept.allFinite() ||
      !(beyond.growth.array() >= 0).all() || !beyond.growth.allFinite() || !(beyond.power > 0) ||
      !std::isfinite(beyond.power) || !(beyond.limit >= 0) || !std::isfinite(beyond.limit) ||
      !(beyond.margin >= 0) || !std::isfinite(beyond.margin))
    ThrowError("a number for rows beyond the training is out of range");
}

}  // namespace fathom
