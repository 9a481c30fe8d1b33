// Tables of others: text and arrays, packed or not, and what is then made of them.
#include "fathom/data/dataset.h"
#include "fathom/data/read_table.h"
#include "fathom/data/table_faults.h"
#include "fathom/io/file_bytes.h"
#include "fuzz/target.h"

FATHOM_FUZZ_TARGET(csv) {
  const fathom::FileBytes file("fuzz", bytes);
  fathom::ReadColumns(file, {"all"}, {.threads = 1});
  fathom::FindFaults(file, {.threads = 1});
}

FATHOM_FUZZ_TARGET(dataset) {
  const fathom::FileBytes file("fuzz", bytes);
  const fathom::Table table = fathom::ReadTable(file, {.threads = 1});
  const fathom::Dataset dataset =
      fathom::MakeDataset(table, fathom::Roles{.targets = {std::to_string(table.columns.size())}});
  // What a model learnt to read it can read again.
  const fathom::Table again =
      fathom::ReadTable(file, fathom::ReadingFor(dataset.schema(), {.threads = 1}));
  fathom::InputRows(again, dataset.schema()).Read();
}

FATHOM_FUZZ_TARGET(npy) {
  fathom::ReadTable(fathom::FileBytes("fuzz", bytes), {.threads = 1, .text = {"1"}});
}

FATHOM_FUZZ_TARGET(gzip) {
  fathom::FileBytes file("fuzz", bytes);
  file.Unpack();
}
