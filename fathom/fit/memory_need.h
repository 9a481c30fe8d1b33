// How much memory a training takes.
#ifndef FATHOM_FIT_MEMORY_NEED_H_
#define FATHOM_FIT_MEMORY_NEED_H_

#include "fathom/data/dataset_rows.h"
#include "fathom/recipe/recipe.h"

namespace fathom {

// Bytes that a training takes whose rows are elsewhere: the program with its libraries, a network,
// its batches, and the buffers of the readers.
inline constexpr double kLeastMemory = 150e6;

// Throws Error, with what to do, if the recipe is for rows that are all in memory: an ensemble, EP
// and SEP, and warped columns.
void CheckRowsMayBeElsewhere(const Recipe& recipe);

// Bytes that Fit takes at its peak if all rows are in memory. An estimate, on the safe side.
double MemoryNeed(const DatasetRows& rows, const Recipe& recipe);

}  // namespace fathom

#endif  // FATHOM_FIT_MEMORY_NEED_H_
