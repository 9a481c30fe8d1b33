// Fingerprints of molecules and the like: columns of hexadecimal digits, each digit four inputs of
// 0 or 1, the highest bit first; or of 0 and 1 alone, each an input. The bits of column 'fp' are
// the columns 'fp:0', 'fp:1', ...
#ifndef FATHOM_DATA_BITS_H_
#define FATHOM_DATA_BITS_H_

#include <string>
#include <vector>

#include "fathom/data/read_table.h"
#include "fathom/data/schema.h"

namespace fathom {

struct BitColumn {
  std::string name;  // or its number
  // So many bits a model needs; 0: not known. It tells what digits that are all 0 or 1 are.
  Index needed = 0;
};

std::vector<BitColumn> BitColumns(const std::vector<std::string>& names);

// ReadTable with the columns `bits` as bits, behind all others. A cell that is missing is missing
// bits. Throws Error, too, for a column that is not there or holds something else, and for cells of
// different lengths.
Table ReadTableWithBits(const FileBytes& file, ReadOptions options,
                        const std::vector<BitColumn>& bits);

// The bits of a column whose cells [rows] are in memory, behind all columns of *table. Throws Error
// as ReadTableWithBits does.
void AppendBits(const BitColumn& column, const std::vector<std::string>& cells, Table* table);

// Which of the names are columns whose bits are inputs of the schema. None of those whose bits have
// names here themselves.
std::vector<BitColumn> BitColumnsAmong(const std::vector<std::string>& names, const Schema& schema);
// Columns of the file whose bits are inputs of the schema, unless the file has them as bits
// already.
std::vector<BitColumn> BitColumnsFor(const Schema& schema, const FileBytes& file,
                                     const ReadOptions& options);

// Whether the cells of a column look like bits: long, of one length, and not like random
// identifiers, half of whose bits are 1.
bool LookLikeBits(const std::vector<std::string>& cells, const ReadOptions& options);

}  // namespace fathom

#endif  // FATHOM_DATA_BITS_H_
