// Writes the corpora from which the fuzz targets start, one folder per target: everyday tables, bad
// tables, and what Fathom itself writes.
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "bnn/expert.h"
#include "bnn/fit.h"
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

// A file of an older format, which has no checksum: else every change would be refused at the door.
std::string WithoutChecksum(const std::string& bytes) {
  std::string older = Replaced(Replaced(bytes, "\"checksum\"", "\"checksun\""),
                               R"("format_version":"8")", R"("format_version":"5")");
  if (older == Replaced(bytes, "\"checksum\"", "\"checksun\""))
    throw std::logic_error("the fuzz seeds do not know this format of model files");
  return older;
}

void AddModel(const Model& model, Corpus* corpus) {
  const std::string bytes = ModelToBytes(model);
  for (const char* target : {"safetensors", "model"}) corpus->Add(target, bytes);
  corpus->Add("model", WithoutChecksum(bytes));
}

Dataset Few(const std::vector<double>& y, std::vector<std::string> classes = {}) {
  DatasetParts parts;
  parts.schema = NumericSchema({"x"}, {"y"});
  parts.schema.classes = std::move(classes);
  const auto rows = static_cast<Index>(y.size());
  parts.inputs = Moments::Certain(Vector::LinSpaced(rows, -1, 1));
  parts.targets = Eigen::Map<const Vector>(y.data(), rows);
  return parts;
}

// One network, and the members that the default adds: lines, neighbours, calibrations, targets that
// are counts with many zeros, classes.
void AddModels(Corpus* corpus) {
  Recipe network;
  network.architecture.hidden = {1};
  network.architecture.inducing = {2};
  network.optimizer.steps = 2;
  network.stack = Stacking::kNever;
  const std::string table = corpus->Path("csv");
  for (const EverydayTable& everyday : EverydayTables()) {
    if (everyday.what != "ISO dates" && everyday.what != "units behind numbers") continue;
    std::ofstream(table, std::ios::binary) << everyday.text;
    FitControl control;
    control.checkpoint = corpus->Path("checkpoint");
    control.checkpoint_interval = 0;
    AddModel(Fit(MakeDataset(ReadTable(table), {"y"}), network, control), corpus);
    if (!fs::exists(control.checkpoint)) continue;
    const std::string bytes = ReadBytes(control.checkpoint);
    corpus->Add("safetensors", bytes);
    corpus->Add("checkpoint", WithoutChecksum(bytes));
  }
  Recipe neighbours = network;
  neighbours.stack = Stacking::kAuto;
  neighbours.local = Local::kOnly;
  AddModel(Fit(Few({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}), neighbours), corpus);
  AddModel(Fit(Few({0, 0, 4, 0, 5, 0, 0, 6, 0, 0, 0, 8, 0, 0, 3, 0}), neighbours), corpus);
  Recipe classes = network;
  classes.architecture.hidden = {};
  AddModel(Fit(Few({0, 1, 2, 0, 1, 2, 2, 2, 0, 0}, {"a", "b", "c"}), classes), corpus);
}

// The model of each method, and the checkpoint of a fit that was stopped halfway.
void AddBaselines(Corpus* corpus) {
  bnn::RegisterNetworkExpert();
  for (const std::string& name : AllNames<bnn::Baseline>()) {
    bnn::BaselineOptions options{.hidden = {2}};
    FromName(name, &options.method);
    options.steps = options.method == bnn::Baseline::kSgld ? 60 : 20;
    options.epochs = 3;
    options.burn_in = 4;
    options.draws = 3;
    options.chains = 2;
    options.threads = 1;
    const Dataset rows = Few({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8});
    AddModel(bnn::FitBaseline(rows, options), corpus);
    const std::string checkpoint = corpus->Path("checkpoint");
    try {
      bnn::FitBaseline(
          rows, options,
          {.callback = [](double fraction) { return fraction < 0.5; }, .checkpoint = checkpoint});
    } catch (const bnn::StoppedTooEarly&) {
    }
    const std::string bytes = ReadBytes(checkpoint);
    corpus->Add("safetensors", bytes);
    corpus->Add("baseline", Replaced(bytes, "\"checksum\"", "\"checksun\""));
    fs::remove(checkpoint);
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
  fathom::AddBaselines(&corpus);
}
