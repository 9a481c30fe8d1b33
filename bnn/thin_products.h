// Products with a matrix of few columns, such as the inputs of a first layer. BLAS packs its
// factors first and needs many columns to make up for it.
#ifndef FATHOM_BNN_THIN_PRODUCTS_H_
#define FATHOM_BNN_THIN_PRODUCTS_H_

#include "fathom/base/aligned.h"
#include "fathom/base/linalg.h"

namespace fathom::bnn {

// Lanes of the widest vectors of T.
template <typename T>
inline constexpr Index kWidestVector = kSimdPadding* static_cast<Index>(sizeof(double)) /
                                       static_cast<Index>(sizeof(T));

// A matrix of few columns, its rows `stride` apart.
template <typename T>
struct ThinRows {
  Index rows = 0, cols = 0, stride = 0;
  const T* data = nullptr;
};

// With more columns, or fewer units than a vector has lanes, BLAS does the work.
inline constexpr Index kMostThinCols = 32;
inline constexpr Index kLeastThinUnits = 8;

// C = A B' for A [rows, cols] and B [units, cols]. Cost 2 rows cols units flop.
void TimesTransposed(const MatrixPart& A, const MatrixPart& B, MutablePart C);

// C += D' A for D [rows, units] and A [rows, cols]. Cost 2 rows cols units flop.
void AddOuterProducts(const MatrixPart& D, const MatrixPart& A, MutablePart C);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_THIN_PRODUCTS_H_
