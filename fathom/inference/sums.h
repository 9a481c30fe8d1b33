// What passes leave behind: sums over rows, from which a gradient is made. All of them are one flat
// array, so that the sums of tiles, of threads or of other machines add up number by number.
#ifndef FATHOM_INFERENCE_SUMS_H_
#define FATHOM_INFERENCE_SUMS_H_

#include <span>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/threads.h"

namespace fathom {

class Sums {
 public:
  // Where each part stands in the array; log Z stands at its begin.
  struct Part {
    Index begin = 0;
    Index rows = 0;
    Index cols = 1;
  };
  struct Layout {
    // [layer][function]; a layer with covariances between its functions has one part for all.
    std::vector<std::vector<Part>> functions;
    std::vector<Part> noise;  // [layer]
    Part likelihood;
    Part points;             // of a model with points, as in DeepGp
    Part point_log_weights;  // with respect to the logarithms of the normalised weights
    Index size = kSimdPadding;

    // Appends a part that begins at a multiple of 64 bytes.
    Part Take(Index rows, Index cols = 1) {
      const Part part{size, rows, cols};
      size += PaddedSize(rows * cols);
      return part;
    }
  };

  Layout layout;

  // Sets all sums to zero, with the memory that the layout needs.
  void SetZero() { values_.assign(static_cast<std::size_t>(layout.size), 0.0); }
  // `other` has the same layout.
  void Add(const Sums& other);

  double& log_z() { return values_[0]; }
  double log_z() const { return values_[0]; }
  double* function(Index l, Index d) { return values_.data() + layout.functions[l][d].begin; }
  const double* function(Index l, Index d) const {
    return values_.data() + layout.functions[l][d].begin;
  }
  Eigen::Map<Vector> noise(Index l) { return VectorAt(layout.noise[l]); }
  Eigen::Map<const Vector> noise(Index l) const { return VectorAt(layout.noise[l]); }
  Eigen::Map<Vector> likelihood() { return VectorAt(layout.likelihood); }
  Eigen::Map<const Vector> likelihood() const { return VectorAt(layout.likelihood); }
  Eigen::Map<Matrix> points() {
    return {values_.data() + layout.points.begin, layout.points.rows, layout.points.cols};
  }
  Eigen::Map<const Matrix> points() const {
    return {values_.data() + layout.points.begin, layout.points.rows, layout.points.cols};
  }
  Eigen::Map<Vector> point_log_weights() { return VectorAt(layout.point_log_weights); }
  Eigen::Map<const Vector> point_log_weights() const { return VectorAt(layout.point_log_weights); }

  std::span<double> values() { return values_; }
  std::span<const double> values() const { return values_; }

 private:
  Eigen::Map<Vector> VectorAt(const Part& part) { return {values_.data() + part.begin, part.rows}; }
  Eigen::Map<const Vector> VectorAt(const Part& part) const {
    return {values_.data() + part.begin, part.rows};
  }

  AlignedBuffer values_;
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_SUMS_H_
