#include "fathom/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "fathom/base/error.h"
#include "fathom/data/text.h"

namespace fathom {
namespace {

Moments InputMoments(Matrix mean) {
  Moments inputs = Moments::Certain(std::move(mean));
  inputs.var =
      inputs.mean.array().isNaN().select(std::numeric_limits<double>::quiet_NaN(), inputs.var);
  return inputs;
}

std::vector<std::string> Pick(const std::vector<std::string>& names,
                              const std::vector<Index>& places) {
  std::vector<std::string> picked;
  for (const Index place : places) picked.push_back(names[place]);
  return picked;
}

void RequireRows(const Table& table) {
  if (table.values.rows() == 0) ThrowError(table.source, ": has no rows; add at least one");
}

}  // namespace

Dataset MakeDataset(const Table& table, const std::vector<std::string>& targets) {
  RequireRows(table);
  std::vector<Index> target_places, input_places, rows;
  for (const std::string& target : targets) {
    const Index place = FindColumn(table, target);
    if (std::count(target_places.begin(), target_places.end(), place) > 0) {
      ThrowError(table.source, ": column ", Quoted(table.columns[place]),
                 " is named as a target twice; name it once");
    }
    target_places.push_back(place);
  }
  for (Index c = 0; c < table.values.cols(); ++c) {
    if (std::count(target_places.begin(), target_places.end(), c) == 0) input_places.push_back(c);
  }
  if (input_places.empty()) {
    ThrowError(table.source, ": no input columns are left beside the targets ",
               QuotedList(Pick(table.columns, target_places)), "; add columns to predict from");
  }
  for (Index n = 0; n < table.values.rows(); ++n) {
    const bool complete =
        std::none_of(target_places.begin(), target_places.end(),
                     [&](Index place) { return std::isnan(table.values(n, place)); });
    if (complete) rows.push_back(n);
  }
  if (rows.empty()) {
    ThrowError(table.source, ": no row has a value in ",
               target_places.size() == 1 ? "target column " : "all target columns ",
               QuotedList(Pick(table.columns, target_places)), "; fill in the known targets");
  }

  Dataset dataset;
  dataset.source = table.source;
  dataset.input_names = Pick(table.columns, input_places);
  dataset.target_names = Pick(table.columns, target_places);
  dataset.inputs = InputMoments(table.values(rows, input_places));
  dataset.targets = table.values(rows, target_places);
  dataset.dropped_rows = table.values.rows() - static_cast<Index>(rows.size());
  return dataset;
}

Dataset SelectInputs(const Table& table, const std::vector<std::string>& input_names,
                     const std::vector<std::string>& target_names) {
  RequireRows(table);
  std::unordered_map<std::string_view, Index> place_of;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    place_of.emplace(table.columns[c], static_cast<Index>(c));
  }
  std::vector<Index> input_places, target_places;
  std::vector<std::string> missing;
  for (const std::string& name : input_names) {
    const auto found = place_of.find(name);
    if (found == place_of.end()) {
      missing.push_back(name);
    } else {
      // Not found->second: FindColumn refuses a name that stands for two columns.
      input_places.push_back(FindColumn(table, name));
    }
  }
  if (missing.size() == 1) {
    ThrowNoColumn(table.source, table.columns, "column", missing[0]);
  } else if (!missing.empty()) {
    ThrowError(table.source, ": ", missing.size(),
               " input columns of the model are missing: ", QuotedList(missing),
               "; the columns are ", QuotedList(table.columns));
  }
  for (const std::string& name : target_names) {
    if (place_of.contains(name)) target_places.push_back(FindColumn(table, name));
  }
  if (target_places.size() != target_names.size()) target_places.clear();

  Dataset dataset;
  dataset.source = table.source;
  dataset.input_names = input_names;
  dataset.target_names = Pick(table.columns, target_places);
  dataset.inputs = InputMoments(table.values(Eigen::all, input_places));
  dataset.targets = table.values(Eigen::all, target_places);
  return dataset;
}

Dataset Subset(const Dataset& dataset, std::span<const Index> rows) {
  for (const Index row : rows) FATHOM_CHECK(row >= 0 && row < dataset.rows());
  const std::vector<Index> picked(rows.begin(), rows.end());
  Dataset subset;
  subset.source = dataset.source;
  subset.input_names = dataset.input_names;
  subset.target_names = dataset.target_names;
  subset.inputs.mean = dataset.inputs.mean(picked, Eigen::all);
  subset.inputs.var = dataset.inputs.var(picked, Eigen::all);
  subset.targets = dataset.targets(picked, Eigen::all);
  return subset;
}

}  // namespace fathom
