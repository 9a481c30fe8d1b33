// Reading arrays that NumPy has saved.
#ifndef FATHOM_DATA_NPY_H_
#define FATHOM_DATA_NPY_H_

#include <string_view>

#include "fathom/data/read_table.h"
#include "fathom/io/file_bytes.h"

namespace fathom {

bool IsNpy(std::string_view bytes);

// Reads a little-endian array of numbers with two axes, rows and columns, in C or Fortran order;
// NaN marks a missing cell. A file without names: see ReadOptions. Throws Error for other arrays,
// infinite numbers, and a header that does not fit the file to the byte.
Table ReadNpy(const FileBytes& file, const ReadOptions& options);
// StreamTable for this format.
Table StreamNpy(const FileBytes& file, const ReadOptions& options, RowSink* sink,
                std::vector<LevelPlaces>* places);

}  // namespace fathom

#endif  // FATHOM_DATA_NPY_H_
