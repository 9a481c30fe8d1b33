// Predicts the rows of an array with a model, and prints one line of JSON: processor time of the
// calls of the library alone, the best of several. bench/python_overhead compares Python with it.
//   fathom_bench_predict MODEL X.npy
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/clock.h"
#include "fathom/data/dataset.h"
#include "fathom/data/read_table.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/predictor.h"

namespace fathom::bench {

namespace {

void Run(const std::string& model_path, const std::string& rows_path) {
  constexpr Index kRows = 4096;  // at a time, as the program and Python do
  constexpr int kRepeats = 5, kSingle = 20000;
  const ModelPredictor predictor(LoadModel(model_path), 1);
  const Schema& schema = predictor.model().schema();
  ReadOptions options;
  options.names.emplace_back();
  for (const InputColumn& input : schema.inputs) options.names.back().push_back(input.name);
  const Table table = ReadTable(rows_path, options);
  const InputRows rows(table, schema);
  std::vector<Moments> pieces;
  for (Index first = 0; first < rows.rows(); first += kRows)
    pieces.push_back(rows.Read(first, std::min(kRows, rows.rows() - first)).inputs());
  Matrix mean(rows.rows(), 1);
  const double all = BestCpuSeconds(kRepeats, [&] {
    Index first = 0;
    for (const Moments& piece : pieces) {
      mean.middleRows(first, piece.rows()) = predictor.Predict(piece).Mean();
      first += piece.rows();
    }
  });
  const Moments one = pieces[0].MiddleRows(0, 1);
  double sum = 0;
  const double single = BestCpuSeconds(kRepeats, [&] {
    for (int i = 0; i < kSingle; ++i) sum += predictor.Predict(one).Mean()(0, 0);
  });
  std::printf("{\"rows\": %lld, \"seconds\": %.6g, \"seconds_of_one_row\": %.6g, \"sum\": %.6g}\n",
              static_cast<long long>(rows.rows()), all, single / kSingle, sum + mean.sum());
}

}  // namespace

}  // namespace fathom::bench

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::invalid_argument("say MODEL X.npy");
    fathom::bench::Run(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fathom_bench_predict: %s\n", error.what());
    return 2;
  }
}
