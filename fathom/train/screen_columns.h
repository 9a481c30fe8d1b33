// Which columns of a table matter, found before a network is trained. With dozens of columns every
// row is equally far from every pseudo-input, and where the target lives in the interplay of a few
// columns a network learns nothing from equal lengthscales: its energy has no slope that leads to
// them. The nearest rows do tell: see neighbour_gp.h.
#ifndef FATHOM_TRAIN_SCREEN_COLUMNS_H_
#define FATHOM_TRAIN_SCREEN_COLUMNS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/train/training_rows.h"

namespace fathom {

// Scaled rows of a table, of which few are asked for.
struct ScaledElsewhere {
  Index rows = 0, inputs = 0;
  std::function<ScaledRows(const std::vector<Index>& rows)> read;
};

// [D] lengthscales to start from, or empty where equal ones will do: with few columns, where equal
// ones explain half of the targets' variance, or where the best ones do not halve their error.
Vector ScreenColumns(const ScaledElsewhere& all, std::uint64_t seed, const ThreadPool& pool);
// The same for rows that are in memory.
Vector ScreenColumns(const ScaledRows& rows, std::uint64_t seed, const ThreadPool& pool);

}  // namespace fathom

#endif  // FATHOM_TRAIN_SCREEN_COLUMNS_H_
