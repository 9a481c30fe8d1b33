// Some rows of a packed table as bytes. Used by packed_table.cc only.
#ifndef FATHOM_DATA_PACKED_BLOCK_H_
#define FATHOM_DATA_PACKED_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/base/types.h"

namespace fathom::internal {

// How the cells of a column are written: whole numbers from 0 on, of which the largest is a missing
// cell, or floating-point numbers.
enum class CellWidth : std::uint8_t { kByte = 1, kShort = 2, kFloat = 4, kDouble = 8 };

// The narrowest widths that hold all cells of the rows to the bit.
std::vector<CellWidth> NarrowestWidths(const Matrix& rows);
std::size_t RowBytes(std::span<const CellWidth> widths);

std::string PackRows(const Matrix& rows, std::span<const CellWidth> widths);
// Puts as many rows as the bytes hold into *to from row `first` on.
void UnpackRows(std::string_view bytes, std::span<const CellWidth> widths, Index first, Matrix* to);

// A checksum of bytes.
std::uint64_t HashBytes(std::string_view bytes, std::uint64_t before = 0);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_PACKED_BLOCK_H_
