#include "fathom/data/fingerprint.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "fathom/distributed/communicator.h"

namespace fathom {

namespace {

class Hash {
 public:
  void Add(std::uint64_t word) {
    // A product with an odd number loses nothing, and the shift brings the high bits, which depend
    // on all bits below, back to where the next product spreads them.
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15U;
    state_ ^= state_ >> 32;
  }
  void Add(double number) {
    // There are many NaN, all of which mean a missing cell, and two zeros.
    if (std::isnan(number)) {
      Add(std::uint64_t{0x7FF8000000000000});
    } else {
      Add(std::bit_cast<std::uint64_t>(number + 0.0));
    }
  }
  void Add(const std::vector<std::string>& names) {
    Add(std::uint64_t{names.size()});
    for (const std::string& name : names) {
      Add(std::uint64_t{name.size()});
      for (const char c : name) Add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
  }
  void AddSize(Index rows, Index cols) {
    Add(static_cast<std::uint64_t>(rows));
    Add(static_cast<std::uint64_t>(cols));
  }
  void AddCells(const Matrix& matrix) {
    for (Index i = 0; i < matrix.size(); ++i) Add(matrix.data()[i]);
  }
  void AddZeros(Index cells) {
    for (Index i = 0; i < cells; ++i) Add(0.0);
  }
  // One matrix of all rows, wherever they are; matrix_of(block) is its part of a block.
  template <typename MatrixOf>
  void AddRows(const DatasetRows& rows, const MatrixOf& matrix_of) {
    InTurn(rows.ranks(), &state_, [&] {
      DoOwnPart(rows.ranks(), [&] {
        rows.ForEachBlock([&](const Dataset& block) { AddCells(matrix_of(block)); });
      });
    });
  }
  std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace

std::string Fingerprint(const Dataset& dataset) { return Fingerprint(RowsInMemory(dataset)); }

std::string Fingerprint(const DatasetRows& rows) { return rows.fingerprint(); }

std::string HashRows(const DatasetRows& rows) {
  // All members are named, so that a new one does not compile until it is decided on.
  const auto& [source, schema, inputs, targets, weights, dropped_rows, notes, table_rows] =
      rows.head().parts();
  static_cast<void>(source);
  static_cast<void>(dropped_rows);
  static_cast<void>(notes);
  static_cast<void>(table_rows);  // where the rows were does not change what is learnt
  static_cast<void>(weights);     // the head has none
  Hash hash;
  hash.Add(schema.FeatureNames());
  hash.Add(schema.targets);
  // One matrix after the other, each over all rows in their order.
  hash.AddSize(rows.rows(), inputs.cols());
  hash.AddRows(rows, [](const Dataset& block) -> const Matrix& { return block.inputs().mean; });
  hash.AddSize(rows.rows(), inputs.cols());
  if (rows.certain()) {
    hash.AddZeros(rows.rows() * inputs.cols());
  } else {
    hash.AddRows(rows, [](const Dataset& block) -> const Matrix& { return block.inputs().var; });
  }
  hash.AddSize(rows.rows(), targets.cols());
  hash.AddRows(rows, [](const Dataset& block) -> const Matrix& { return block.targets(); });
  hash.AddSize(rows.weighted() ? rows.rows() : 0, 1);
  if (rows.weighted())
    hash.AddRows(rows, [](const Dataset& block) { return Matrix(block.weights()); });
  // The names hold all else that matters of the schema.
  if (schema.has_classes()) hash.Add(schema.classes);
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash.state()));
  return text;
}

}  // namespace fathom
