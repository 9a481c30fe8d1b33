// How a prediction goes on beyond the range of the training rows, where members know nothing: GPs
// return to their mean, and do so with confidence. With x' the row moved to the edge of the range
// and a margin around it, d the distance from x' to x in lengthscales, and l a straight line
// through the whole table:
//   centre(x)   = centre(x') + b (l(x) - l(x')) + r (1 - exp(-d)) (l(x') - centre(x'))
//   spread(x)^2 = spread(x')^2 + min(growth d^power, limit)^2                             [beyond]
// Blocks of rows that were held out at the edges of the table have told whether the prediction
// stays where it was at the edge (b = r = 0), goes on with the slope of the line (b = 1), or
// returns to the line (b = r = 1), and how errors grow with the distance.
#ifndef FATHOM_FITTED_BEYOND_H_
#define FATHOM_FITTED_BEYOND_H_

#include "fathom/base/enum_names.h"
#include "fathom/base/types.h"

namespace fathom {

enum class Course { kStay, kSlope, kLine };
constexpr auto NamesOf(Course) {
  return std::to_array<EnumName<Course>>(
      {{Course::kStay, "stay"}, {Course::kSlope, "slope"}, {Course::kLine, "line"}});
}

// All in scaled units.
struct Beyond {
  Course course = Course::kLine;
  Matrix slope;         // [D, targets] of the line
  Vector intercept;     // [targets]
  Vector lengthscales;  // [D]
  Vector growth;        // [targets], at one lengthscale
  double power = 1;
  double limit = 0;  // of the growth; 0: there is none
  // Rows up to this part of a column's range beyond it are predicted as they stand: to move such a
  // row would do more harm where columns hang together.
  double margin = 0;

  // Entry by entry: a row's bits do not depend on the rows beside it.
  Matrix Line(const Matrix& x) const {
    return Matrix(x.lazyProduct(slope)).rowwise() + intercept.transpose();
  }
};

// [N]: how far rows lie from where they were moved to.
Vector DistancesBeyond(const Vector& lengthscales, const Matrix& x, const Matrix& edge);

// The mean at x, where it is `mean` at the edge.
Matrix MeanBeyond(Course course, const Vector& distance, const Matrix& line_at_edge,
                  const Matrix& line, const Matrix& mean);

// Turns a centre at the edge, in scaled units, into the one at x, for rows that all lie beyond.
void GoBeyond(const Beyond& beyond, const Moments& x, const Moments& edge, Moments* centre);

// Throws Error with the reason unless it fits a model of so many scaled inputs and targets.
void CheckBeyond(const Beyond& beyond, Index inputs, Index targets);

}  // namespace fathom

#endif  // FATHOM_FITTED_BEYOND_H_
