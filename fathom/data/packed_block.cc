#include "fathom/data/packed_block.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "fathom/base/error.h"

namespace fathom::internal {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <typename Whole>
bool IsBelowGap(double value) {
  return value >= 0 && value < std::numeric_limits<Whole>::max() && value == std::floor(value) &&
         !std::signbit(value);
}

CellWidth WidthOf(double value) {
  if (std::isnan(value) || IsBelowGap<std::uint8_t>(value)) return CellWidth::kByte;
  if (IsBelowGap<std::uint16_t>(value)) return CellWidth::kShort;
  const bool in_range = std::abs(value) <= std::numeric_limits<float>::max();
  if (in_range && static_cast<double>(static_cast<float>(value)) == value) return CellWidth::kFloat;
  return CellWidth::kDouble;
}

template <typename Number>
void PackCell(double value, char* to) {
  Number number = 0;
  if constexpr (std::numeric_limits<Number>::is_integer) {
    number = std::isnan(value) ? std::numeric_limits<Number>::max() : static_cast<Number>(value);
  } else {
    number = static_cast<Number>(value);
  }
  std::memcpy(to, &number, sizeof(number));
}

template <typename Number>
double UnpackCell(const char* from) {
  Number number = 0;
  std::memcpy(&number, from, sizeof(number));
  if constexpr (std::numeric_limits<Number>::is_integer) {
    if (number == std::numeric_limits<Number>::max()) return kNaN;
  }
  return static_cast<double>(number);
}

}  // namespace

std::vector<CellWidth> NarrowestWidths(const Matrix& rows) {
  std::vector<CellWidth> widths(static_cast<std::size_t>(rows.cols()), CellWidth::kByte);
  for (Index n = 0; n < rows.rows(); ++n) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (widths[c] == CellWidth::kDouble) continue;
      widths[c] = std::max(widths[c], WidthOf(rows(n, static_cast<Index>(c))));
    }
  }
  return widths;
}

std::size_t RowBytes(std::span<const CellWidth> widths) {
  std::size_t bytes = 0;
  for (const CellWidth width : widths) bytes += static_cast<std::size_t>(width);
  return bytes;
}

std::string PackRows(const Matrix& rows, std::span<const CellWidth> widths) {
  std::string bytes(static_cast<std::size_t>(rows.rows()) * RowBytes(widths), '\0');
  char* next = bytes.data();
  for (Index n = 0; n < rows.rows(); ++n) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const double value = rows(n, static_cast<Index>(c));
      switch (widths[c]) {
        case CellWidth::kByte:
          PackCell<std::uint8_t>(value, next);
          break;
        case CellWidth::kShort:
          PackCell<std::uint16_t>(value, next);
          break;
        case CellWidth::kFloat:
          PackCell<float>(value, next);
          break;
        case CellWidth::kDouble:
          PackCell<double>(value, next);
          break;
      }
      next += static_cast<std::size_t>(widths[c]);
    }
  }
  return bytes;
}

void UnpackRows(std::string_view bytes, std::span<const CellWidth> widths, Index first,
                Matrix* to) {
  FATHOM_CHECK(std::ssize(widths) == to->cols());
  const char* next = bytes.data();
  const auto rows = static_cast<Index>(bytes.size() / RowBytes(widths));
  for (Index n = first; n < first + rows; ++n) {
    double* const row = to->row(n).data();
    for (std::size_t c = 0; c < widths.size(); ++c) {
      switch (widths[c]) {
        case CellWidth::kByte:
          row[c] = UnpackCell<std::uint8_t>(next);
          break;
        case CellWidth::kShort:
          row[c] = UnpackCell<std::uint16_t>(next);
          break;
        case CellWidth::kFloat:
          row[c] = UnpackCell<float>(next);
          break;
        case CellWidth::kDouble:
          row[c] = UnpackCell<double>(next);
          break;
      }
      next += static_cast<std::size_t>(widths[c]);
    }
  }
}

std::uint64_t HashBytes(std::string_view bytes, std::uint64_t before) {
  std::uint64_t state = before ^ bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(sizeof(word), bytes.size());
    std::memcpy(&word, bytes.data(), size);
    bytes.remove_prefix(size);
    // A product with an odd number loses nothing, and the shift brings the high bits back down.
    state = (state ^ word) * 0x9E3779B97F4A7C15U;
    state ^= state >> 32;
  }
  return state;
}

}  // namespace fathom::internal
