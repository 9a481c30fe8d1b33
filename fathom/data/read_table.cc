#include "fathom/data/read_table.h"

#include "fathom/data/csv.h"
#include "fathom/data/npy.h"
#include "fathom/io/file_bytes.h"

namespace fathom {

Table ReadTable(const std::string& path, const ReadOptions& options) {
  FileBytes file(path);
  file.Unpack();
  return IsNpy(file.bytes()) ? ReadNpy(file, options) : ReadCsv(file, options);
}

}  // namespace fathom
