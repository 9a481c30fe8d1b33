// Nearly collinear columns turned into uncorrelated ones. A function of their small differences
// varies over a hair's breadth in the columns as they are, where a kernel can follow it only
// through an ill-conditioned K; along the whitened directions it is as smooth as any other.
#ifndef FATHOM_DATA_WHITEN_H_
#define FATHOM_DATA_WHITEN_H_

#include <vector>

#include "fathom/base/enum_names.h"
#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

enum class Whitening {
  kAuto,  // where HidesInSmallDirections says so
  kNever,
  kAlways,
};
constexpr auto NamesOf(Whitening) {
  return std::to_array<EnumName<Whitening>>(
      {{Whitening::kAuto, "auto"}, {Whitening::kNever, "never"}, {Whitening::kAlways, "always"}});
}

// The rows by which a table is judged: every k-th, so that a sorted one is sampled evenly, and at
// most 20,000.
std::vector<Index> EvenSample(Index rows);

// Holds the principal directions of the standardised inputs x [N, D], each divided by its standard
// deviation, by falling variance. Those without any (below 1e-10 of the largest) are left out.
struct PrincipalDirections {
  Matrix directions;  // [D, R]
  Vector variance;    // [R], of x along each before the division
};
PrincipalDirections FindPrincipalDirections(const Matrix& x);

// Whether a linear fit of some column of y [N, targets], standardised, owes more than half of what
// it explains to directions along which the inputs hardly vary (less than 0.03 of a column's
// variance). On the benchmark tables that share is 0.88 for naval and at most 0.03 for all others.
// Never of tables too small to tell: fewer than ten rows per column.
bool HidesInSmallDirections(const PrincipalDirections& principal, const Matrix& x, const Matrix& y);

}  // namespace fathom

#endif  // FATHOM_DATA_WHITEN_H_
