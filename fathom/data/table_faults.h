// All that is wrong with the cells of a table, where reading would stop at the first.
#ifndef FATHOM_DATA_TABLE_FAULTS_H_
#define FATHOM_DATA_TABLE_FAULTS_H_

#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/read_table.h"

namespace fathom FATHOM_PUBLIC {

// Cells or lines with the same fault.
struct TableFault {
  std::string column = {};              // empty: of whole lines
  std::string text = {};                // what is wrong, for people, with the first place
  Index count = 0;                      // of cells or lines
  std::vector<std::string> words = {};  // different cells, at most ten: words in place of numbers
};

// Empty for an array and for a table that ReadTable reads. Throws Error for what no cell can make
// good, such as another format or a doubled name.
std::vector<TableFault> FindFaults(const FileBytes& file, const ReadOptions& options);

}  // namespace fathom

#endif  // FATHOM_DATA_TABLE_FAULTS_H_
