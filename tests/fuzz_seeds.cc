// Writes the corpora from which the fuzz targets start, one folder per target: everyday tables, bad
// tables, and what Fathom itself writes.
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fathom/fathom.h"
#include "fathom/train/checkpoint.h"
#include "tests/support/bad_tables.h"
#include "tests/support/everyday_tables.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class Corpus {
 public:
  explicit Corpus(fs::path folder) : folder_(std::move(folder)) {}

  std::string Path(const std::string& target) {
    fs::create_directories(folder_ / target);
    return (folder_ / target / std::to_string(count_++)).string();
  }
  void Add(const std::string& target, const std::string& bytes) {
    std::ofstream(Path(target), std::ios::binary) << bytes;
  }

 private:
  fs::path folder_;
  int count_ = 0;
};

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Packed(const std::string& text) {
  std::string packed(text.size() + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

void AddTables(Corpus* corpus) {
  for (const EverydayTable& table : EverydayTables()) {
    // A few rows show as much as many.
    const std::string start = table.text.substr(0, 400);
    for (const char* target : {"csv", "dataset"}) corpus->Add(target, start);
  }
  for (const BadInputSection& section : {BadFiles(), BadCells(), BadColumns(), TakenWithANote()}) {
    for (const BadInput& input : section.inputs) {
      if (input.content.empty() || input.content.size() > 4000) continue;
      for (const char* target : {"csv", "dataset"}) corpus->Add(target, input.content);
    }
  }
  corpus->Add("gzip", Packed("x,y\n1,2\n"));
  corpus->Add("gzip", Packed("x,y\n1,2\n") + Packed("3,4\n") + std::string(8, '\0'));
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  corpus->Add("npy", NpyHeader(header) + std::string(48, '\0'));
  header = "{'descr': '<i4', 'fortran_order': True, 'shape': (1, 2), }";
  corpus->Add("npy", NpyHeader(header) + std::string(8, '\1'));
  corpus->Add("toml", "a = 1\n[fit]\nb = [\"x\", 'y', 3]  # comment\n\"quoted key\" = true\n");
}

// A file of the format before the last, which has no checksum: else every change would be refused
// at the door.
std::string WithoutChecksum(std::string bytes) {
  bytes = Replaced(bytes, "\"checksum\"", "\"checksun\"");
  return Replaced(bytes, "\"format_version\":\"7\"", "\"format_version\":\"5\"");
}

void AddModels(Corpus* corpus) {
  const std::string table = corpus->Path("csv");
  for (const EverydayTable& everyday : EverydayTables()) {
    if (everyday.what != "ISO dates" && everyday.what != "units behind numbers") continue;
    std::ofstream(table, std::ios::binary) << everyday.text;
    const Dataset dataset = MakeDataset(ReadTable(table), {"y"});
    Recipe recipe;
    recipe.architecture.hidden = {1};
    recipe.architecture.inducing = {2};
    recipe.optimizer.steps = 2;
    recipe.stack = Stacking::kNever;
    const std::string path = corpus->Path("model");
    FitControl control;
    control.checkpoint = corpus->Path("checkpoint");
    control.checkpoint_interval = 0;
    SaveModel(Fit(dataset, recipe, control), path);
    for (const std::string& file : {path, control.checkpoint}) {
      if (!fs::exists(file)) continue;
      const std::string bytes = ReadBytes(file);
      corpus->Add("safetensors", bytes);
      corpus->Add(file == path ? "model" : "checkpoint", WithoutChecksum(bytes));
    }
  }
}

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fathom_fuzz_seeds FOLDER\n");
    return 2;
  }
  std::filesystem::remove_all(argv[1]);
  fathom::Corpus corpus(argv[1]);
  fathom::AddTables(&corpus);
  fathom::AddModels(&corpus);
}
