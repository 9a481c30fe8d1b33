// Tables of others: text and arrays, packed or not, and what is then made of them.
#include "fathom/data/dataset.h"
#include "fathom/data/read_table.h"
#include "fathom/data/table_faults.h"
#include "fathom/io/file_bytes.h"
#include "fuzz/target.h"

FATHOM_FUZZ_TARGET(csv) {
  const fathom::FileBytes file(path);
  fathom::ReadColumns(file, {"all"}, {.threads = 1});
  fathom::FindFaults(file, {.threads = 1});
}

FATHOM_FUZZ_TARGET(dataset) {
  const fathom::Table table = fathom::ReadTable(path, {.threads = 1});
  const fathom::Dataset dataset =
      fathom::MakeDataset(table, fathom::Roles{.targets = {std::to_string(table.columns.size())}});
  // What a model learnt to read it can read again.
  const fathom::Table again =
      fathom::ReadTable(path, fathom::ReadingFor(dataset.schema(), {.threads = 1}));
  fathom::InputRows(again, dataset.schema()).Read();
}

FATHOM_FUZZ_TARGET(npy) { fathom::ReadTable(path, {.threads = 1, .text = {"1"}}); }

FATHOM_FUZZ_TARGET(gzip) {
  fathom::FileBytes file(path);
  file.Unpack();
}
