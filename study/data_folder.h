// Datasets with the splits that experiments agree on. A dataset is a folder with two files:
//   data.csv          a header line, cells separated by commas, the target in the last column
//   test_indices.txt  a line per split: the rows to test on, counted from 0, separated by blanks;
//                     the others are for training
#ifndef FATHOM_STUDY_DATA_FOLDER_H_
#define FATHOM_STUDY_DATA_FOLDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "fathom/data/schema.h"
#include "fathom/data/split.h"
#include "fathom/data/table.h"

namespace fathom {

struct SplitData {
  Table table;
  Roles roles;  // the target and what the caller asked for
  std::vector<Split> splits;
};

struct DataFolderOptions {
  // The targets are found by their place. Columns to ignore need not be in every dataset.
  Roles roles = {};
  // Columns of hexadecimal digits, each of which is four inputs of 0 or 1, the highest bit first.
  // A dataset need not have them.
  std::vector<std::string> bits = {};
};

// Reads folder/name; if that is not there, makes the dataset of this name if it is one of those
// that the program knows how to make (made_data.h). "boston@200" is boston with 200 random training
// rows in each split and up to 1000 of its other rows to test on. Throws Error with file, line and
// cure for anything that is not as described.
SplitData LoadSplitData(const std::string& folder, const std::string& name,
                        const DataFolderOptions& options);

// Reads the splits of a table with so many rows; messages call the text `source`.
std::vector<Split> ParseSplits(const std::string& source, std::string_view text, Index rows);

// The given rows of a table; strings keep their numbers.
Table TableRows(const Table& table, const std::vector<Index>& rows);

// Places in split.held_out of the rows that do not also occur, cell by cell, in split.train.
std::vector<Index> UnseenRows(const Table& table, const Split& split);

}  // namespace fathom

#endif  // FATHOM_STUDY_DATA_FOLDER_H_
