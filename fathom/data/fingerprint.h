// A short text by which a dataset is recognised.
#ifndef FATHOM_DATA_FINGERPRINT_H_
#define FATHOM_DATA_FINGERPRINT_H_

#include <string>

#include "fathom/data/dataset.h"
#include "fathom/data/dataset_rows.h"

namespace fathom {

// 16 hexadecimal digits that depend on the names of the columns and on every number in order, but
// not on the file's name or on how it is written. Guards against mistakes, not against an enemy.
std::string Fingerprint(const Dataset& dataset);
std::string Fingerprint(const DatasetRows& rows);
// The same, computed anew. Ranks that hold rows call it together.
std::string HashRows(const DatasetRows& rows);

}  // namespace fathom

#endif  // FATHOM_DATA_FINGERPRINT_H_
