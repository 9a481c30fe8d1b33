#include "fathom/train/training_rows.h"

#include <utility>

#include "fathom/train/observations.h"

namespace fathom {

ScaledRows ScaleRows(const NetworkInTraining& network, const Dataset& rows) {
  return {StandardizeInputs(network.input_scaler, rows.inputs()),
          Observations(*network.network.likelihood, network.target_scaler, rows), rows.weights()};
}

TrainingRows::TrainingRows(const DatasetRows& rows, const NetworkInTraining& network)
    : rows_(rows), network_(network), in_memory_(rows.whole() != nullptr) {
  FactsCollector facts;
  const auto check = [&](const ScaledRows& some) {
    network.network.likelihood->CheckTargets(network.network.outputs(), some.y);
    facts.Add(some.x, some.y, some.weights);
  };
  if (in_memory_) {
    here_ = ScaleRows(network, *rows.whole());
    check(here_);
  } else {
    rows.ForEachBlock([&](const Dataset& block) { check(ScaleRows(network, block)); });
  }
  facts_ = facts.facts();
  // A rank may hold no row.
  facts_.inputs = network.input_scaler.outputs();
  facts_.targets = rows.head().targets().cols();
}

RowReader TrainingRows::Reader() const {
  return {facts_, [this](std::span<const Index> numbers, FetchedRows* to) {
            ScaledRows some = ScaleRows(network_, rows_.Read(numbers));
            to->x = std::move(some.x);
            to->y = std::move(some.y);
            to->weights = std::move(some.weights);
          }};
}

RowsInPlace TrainingRows::InPlace() const {
  return {facts_, rows_.firsts(), [this](const auto& visit) {
            rows_.ForEachBlock([&](const Dataset& block) {
              const ScaledRows some = ScaleRows(network_, block);
              visit(some.x, some.y, some.weights);
            });
          }};
}

}  // namespace fathom
