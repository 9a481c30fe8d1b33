// Finds the nearest of many rows, exactly where few enough leaves may hold them (kMostLeaves). Rows
// that stand close together share a leaf with a box around it. Most leaves, and most rows of the
// others, are ruled out by a sketch: single precision coordinates along the few axes in which the
// rows differ most. Along some orthonormal axes two rows are never further apart than they are, so
// only rows whose sketches are near are measured.
#ifndef FATHOM_NEIGHBOUR_SCAN_H_
#define FATHOM_NEIGHBOUR_SCAN_H_

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/base/types.h"

namespace fathom {

constexpr Index kSketchLanes = 2 * kSimdPadding;  // those of the widest vector
constexpr Index kLeafRows = 4 * kSketchLanes;
constexpr Index kMostAxes = 16;
constexpr Index kBoxAxes = 8;  // further ones cut off little
// Coordinates of sketches are not further out than this, so that no squared distance is infinite.
// To bring them in brings rows nearer to each other, never further apart.
constexpr double kFurthestSketch = 1e18;
// After the leaves that fill the list, no more than so many are looked at. In tables of up to
// 32,768 rows that is every leaf. In larger ones with many columns, where boxes rule out little,
// some of the nearest rows are missed: of 20 normal columns, those found are on average less than
// 1 % further away than the nearest at 60,000 rows, and about 3 % at 250,000. The time of a query
// then grows little with the table.
constexpr Index kMostLeaves = 512;

// Memory that serves the queries of a thread.
struct ScanMemory {
  AlignedBuffer query;        // [padded columns], 0 behind the last
  AlignedVector<float> gaps;  // of leaves
  std::vector<std::uint64_t> order;
  AlignedBuffer distances;  // of candidates
  std::vector<std::int32_t> rows;
  std::vector<std::pair<double, std::int32_t>> sorted;
};

// One query and what is searched. RowLeaves (row_leaves.h) makes it.
struct LeafQuery {
  std::span<const std::int32_t> rows;  // leaf after leaf
  Index num_leaves, padded_columns, axes;
  const double* values;   // [rows][padded columns]
  const float* sketches;  // [leaves][axes][rows of a leaf]
  const float* boxes;     // [leaf blocks][box axes][least, most][leaves of a block]
  const float* sketch;    // of the query
  double reach;           // no row, nor the query, is further from the centre
  ScanMemory* memory;     // holds the query
};

// Whether a row may not be found.
using IsLeftOut = std::function<bool(std::int32_t)>;

// Writes the m nearest rows of those that are not left out, nearest first and of equally near ones
// the first, into memory for m of them. What is not there is left as it is. The distance of a row
// is a sum over its columns, and does not depend on other rows.
void FindNearest(const LeafQuery& query, Index m, const IsLeftOut& left_out, std::int32_t* nearest);

// The leaf whose box is nearest.
Index NearestLeaf(const LeafQuery& query);

}  // namespace fathom

#endif  // FATHOM_NEIGHBOUR_SCAN_H_
