// Which columns of a table matter, found before a network is trained. With dozens of columns every
// row is equally far from every pseudo-input, and where the target lives in the interplay of a few
// columns a network learns nothing from equal lengthscales: its energy has no slope that leads to
// them. The nearest rows do tell: see neighbour_gp.h.
#ifndef FATHOM_TRAIN_SCREEN_COLUMNS_H_
#define FATHOM_TRAIN_SCREEN_COLUMNS_H_

#include <cstdint>

#include "fathom/base/threads.h"
#include "fathom/train/start.h"

namespace fathom {

// [D] lengthscales to start from, or empty where equal ones will do: with few columns, where equal
// ones explain half of the targets' variance, or where the best ones do not halve their error.
Vector ScreenColumns(const ScaledRows& rows, const Vector& weights, std::uint64_t seed,
                     const ThreadPool& pool);

}  // namespace fathom

#endif  // FATHOM_TRAIN_SCREEN_COLUMNS_H_
