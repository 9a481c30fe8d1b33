#include "fathom/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/column_facts.h"
#include "fathom/data/row_picker.h"

namespace fathom {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Index InputPlace(const Table& table, const Schema& schema, const std::string& name) {
  const auto found = std::find_if(schema.inputs.begin(), schema.inputs.end(),
                                  [&](const InputColumn& input) { return input.name == name; });
  if (found != schema.inputs.end()) return found - schema.inputs.begin();
  std::vector<std::string> names;
  for (const InputColumn& input : schema.inputs) names.push_back(input.name);
  ThrowNoColumn(table.source, names, "input column", name);
}

void CheckStd(const std::string& place, double std) {
  if (std >= 0 && std::isfinite(std)) return;
  ThrowError(place, ": ", std, " is no standard deviation; give a number from 0 on");
}

void CheckNames(const std::string& source, const Schema& schema) {
  std::set<std::string> seen;
  for (const auto& names : {schema.FeatureNames(), schema.targets}) {
    for (const std::string& name : names) {
      if (!seen.insert(name).second)
        ThrowError(source, ": column ", Quoted(name), " is named twice; give it another name");
    }
  }
}

void CheckSizes(const DatasetParts& parts) {
  const auto require = [&](Index size, Index needed, const char* what, const char* of) {
    if (size != needed)
      ThrowError(parts.source, ": there are ", size, " ", what, " where ", needed, " ", of,
                 " are needed");
  };
  const Index rows = parts.inputs.rows();
  const auto targets = static_cast<Index>(parts.schema.targets.size());
  require(parts.inputs.var.rows(), rows, "rows of input variances", "rows");
  require(parts.inputs.var.cols(), parts.inputs.cols(), "columns of input variances", "columns");
  require(parts.inputs.cols(), parts.schema.width(), "input columns", "named ones");
  require(parts.targets.rows(), rows, "rows of targets", "rows");
  if (parts.targets.cols() > 0)
    require(parts.targets.cols(), targets, "target columns", "named ones");
  if (parts.weights.size() > 0) require(parts.weights.size(), rows, "weights", "rows");
  if (!parts.table_rows.empty())
    require(static_cast<Index>(parts.table_rows.size()), rows, "numbers of table rows", "rows");
}

// NaN marks a missing cell.
void CheckCells(const DatasetParts& parts) {
  const auto refuse = [&](Index row, const std::string& column, const char* what) {
    const Index in_table = parts.table_rows.empty() ? row : parts.table_rows[row];
    ThrowError(parts.source, ": row ", in_table + 1, ", column ", Quoted(column), ": ", what);
  };
  const Schema& schema = parts.schema;
  const auto column = [&](Index c) { return schema.FeatureNames()[static_cast<std::size_t>(c)]; };
  const auto classes = static_cast<double>(schema.classes.size());
  for (Index n = 0; n < parts.inputs.rows(); ++n) {
    for (Index c = 0; c < parts.inputs.cols(); ++c) {
      const double var = parts.inputs.var(n, c);
      if (std::isinf(parts.inputs.mean(n, c)))
        refuse(n, column(c),
               "the number is infinite; leave the cell empty if its value is unknown");
      if (var < 0 || std::isinf(var))
        refuse(n, column(c), "the variance must be finite, from 0 on");
    }
    for (Index t = 0; t < parts.targets.cols(); ++t) {
      const double y = parts.targets(n, t);
      if (std::isinf(y)) refuse(n, schema.targets[t], "the target is infinite");
      if (schema.has_classes() && !std::isnan(y) && !(y >= 0 && y < classes && y == std::floor(y)))
        refuse(n, schema.targets[t], "the target is not the place of a class");
    }
    if (parts.weights.size() > 0 && !(parts.weights[n] > 0 && std::isfinite(parts.weights[n])))
      ThrowError(parts.source, ": row ", n + 1, ": the weight is ", parts.weights[n],
                 "; the weights must be one positive number for each row");
  }
}

}  // namespace

Dataset::Dataset(DatasetParts parts) {
  CheckNames(parts.source, parts.schema);
  CheckSizes(parts);
  CheckCells(parts);
  parts_ = std::make_shared<const DatasetParts>(std::move(parts));
}

InputRows::InputRows(const Table& table, const Schema& schema, const InputStd& std)
    : table_(table), schema_(schema), notes_(table.notes) {
  if (table.values.rows() == 0) ThrowError(table.source, ": has no rows; add at least one");
  FindColumns();
  FindStd(std);
}

InputRows::InputRows(const Table& head, const TableSurvey& survey, const Schema& schema,
                     const InputStd& std)
    : table_(head), survey_(&survey), schema_(schema), notes_(head.notes) {
  if (survey.rows == 0) ThrowError(head.source, ": has no rows; add at least one");
  FATHOM_CHECK(std.cells.columns.empty());
  FindColumns();
  FindStd(std);
}

Index InputRows::rows() const { return survey_ != nullptr ? survey_->rows : table_.values.rows(); }

Index InputRows::KnownCells(Index column) const {
  if (survey_ != nullptr) return survey_->columns[column].known;
  return table_.values.rows() - table_.values.col(column).array().isNaN().count();
}

std::vector<Index> InputRows::CellsOfLevels(Index column) const {
  if (survey_ != nullptr) return survey_->columns[column].cells_of_level;
  std::vector<Index> count(table_.LevelsOf(column).size(), 0);
  for (const double level : table_.values.col(column)) {
    if (!std::isnan(level)) ++count[static_cast<std::size_t>(level)];
  }
  return count;
}

void InputRows::FindColumns() {
  std::unordered_map<std::string_view, Index> place_of;
  for (std::size_t c = 0; c < table_.columns.size(); ++c)
    place_of.emplace(table_.columns[c], static_cast<Index>(c));
  std::vector<std::string> missing;
  for (const InputColumn& input : schema_.inputs) {
    if (!place_of.contains(input.name)) {
      missing.push_back(input.name);
      continue;
    }
    // Not the place just found: FindColumn refuses a name that stands for two columns.
    sources_.push_back({FindColumn(table_, input.name), {}});
    FindLevels(input, &sources_.back());
  }
  if (!missing.empty()) ThrowMissing(missing);
  for (const std::string& name : schema_.targets) {
    if (place_of.contains(name)) target_places_.push_back(FindColumn(table_, name));
  }
  if (schema_.has_classes() && has_targets()) FindClasses();
}

void InputRows::FindClasses() {
  const Index place = target_places_.front();
  const std::vector<std::string>& levels = table_.LevelsOf(place);
  const std::string where = table_.source + ": target column " + Quoted(table_.columns[place]);
  if (levels.empty() && KnownCells(place) > 0)
    ThrowError(where, " was read as numbers, but the model has learnt classes; read it as text");
  Index unseen = -1;
  for (const std::string& level : levels) {
    const auto found = std::find(schema_.classes.begin(), schema_.classes.end(), level);
    const bool known = found != schema_.classes.end();
    if (!known && unseen < 0) unseen = static_cast<Index>(class_of_level_.size());
    class_of_level_.push_back(known ? static_cast<double>(found - schema_.classes.begin()) : kNaN);
  }
  if (unseen < 0) return;
  Index count = 0;
  const std::vector<Index> cells = CellsOfLevels(place);
  for (std::size_t k = 0; k < cells.size(); ++k)
    count += std::isnan(class_of_level_[k]) ? cells[k] : 0;
  notes_.push_back({"unseen_classes", count,
                    where + ": " + std::to_string(count) +
                        (count == 1 ? " cell is" : " cells are") + " none of the classes " +
                        QuotedList(schema_.classes) + ", such as " +
                        Quoted(levels[static_cast<std::size_t>(unseen)]) +
                        (count == 1 ? "; it counts" : "; they count") + " as missing"});
}

Matrix InputRows::ReadTargets(const Matrix& cells, std::span<const Index> picked) const {
  Matrix targets(std::ssize(picked), std::ssize(target_places_));
  for (Index i = 0; i < targets.rows(); ++i) {
    for (Index t = 0; t < targets.cols(); ++t) targets(i, t) = cells(picked[i], target_places_[t]);
  }
  if (!schema_.has_classes()) return targets;
  for (double& target : targets.reshaped()) {
    if (!std::isnan(target)) target = class_of_level_[static_cast<std::size_t>(target)];
  }
  return targets;
}

void InputRows::ThrowMissing(const std::vector<std::string>& missing) const {
  // Other columns were not read, but one of them may be the one that is meant.
  std::vector<std::string> columns = table_.columns;
  columns.insert(columns.end(), table_.left_out.begin(), table_.left_out.end());
  if (missing.size() == 1) ThrowNoColumn(table_.source, columns, "column", missing[0]);
  ThrowError(table_.source, ": ", missing.size(),
             " input columns of the model are missing: ", QuotedList(missing), "; the columns are ",
             QuotedList(columns));
}

void InputRows::FindLevels(const InputColumn& input, Source* source) {
  const std::vector<std::string>& levels = table_.LevelsOf(source->place);
  const bool is_text = !levels.empty();
  if (is_text != !input.levels.empty() && KnownCells(source->place) > 0) {
    ThrowError(table_.source, ": column ", Quoted(input.name), " holds ",
               is_text ? "text such as " + Quoted(levels.front()) : "numbers",
               " but the model has learnt it as ",
               is_text ? "numbers; replace them" : "categories; read it as text");
  }
  std::vector<char> unseen;
  for (const std::string& level : levels) {
    const auto found = std::find(input.levels.begin(), input.levels.end(), level);
    const bool known = found != input.levels.end();
    source->levels.push_back(known ? found - input.levels.begin() : -1);
    unseen.push_back(known ? 0 : 1);
  }
  const auto first = std::find(unseen.begin(), unseen.end(), 1);
  if (first == unseen.end()) return;
  Index count = 0;
  const std::vector<Index> cells = CellsOfLevels(source->place);
  for (std::size_t k = 0; k < cells.size(); ++k) count += unseen[k] != 0 ? cells[k] : 0;
  notes_.push_back(
      {"unseen_levels", count,
       table_.source + ": column " + Quoted(input.name) + ": " + std::to_string(count) +
           (count == 1 ? " cell holds a value" : " cells hold values") +
           " that the training has not seen, such as " + Quoted(levels[first - unseen.begin()]) +
           (count == 1 ? "; it counts" : "; they count") + " as missing"});
}

void InputRows::FindStd(const InputStd& std) {
  const auto numeric_source = [&](const std::string& source, const std::string& name) -> Source& {
    const Index place = InputPlace(table_, schema_, name);
    if (!schema_.inputs[place].levels.empty()) {
      ThrowError(source, ": column ", Quoted(name),
                 " holds categories, which have no standard deviation; give none for it");
    }
    return sources_[place];
  };
  for (const auto& [name, deviation] : std.columns) {
    CheckStd(table_.source + ": standard deviation of column " + Quoted(name), deviation);
    numeric_source(table_.source, name).variance += deviation * deviation;
  }
  const Table& cells = std.cells;
  if (cells.columns.empty()) return;
  if (cells.values.rows() != rows()) {
    ThrowError(cells.source, ": has ", cells.values.rows(), " rows of standard deviations for ",
               rows(), " rows of ", table_.source, "; give one row for each");
  }
  std_cells_ = cells.values;
  bool any = false;
  for (std::size_t c = 0; c < cells.columns.size(); ++c) {
    const std::string& name = cells.columns[c];
    const auto is_named = [&](const InputColumn& input) { return input.name == name; };
    if (std::none_of(schema_.inputs.begin(), schema_.inputs.end(), is_named)) continue;
    numeric_source(cells.source, name).cell_std = static_cast<Index>(c);
    any = true;
    for (Index n = 0; n < rows(); ++n) {
      double& deviation = std_cells_(n, static_cast<Index>(c));
      if (std::isnan(deviation)) deviation = 0;
      if (deviation < 0) {
        CheckStd(cells.source + ": row " + std::to_string(n + 1) + ", column " + Quoted(name),
                 deviation);
      }
    }
  }
  if (!any) {
    ThrowError(cells.source, ": has no input column of ", table_.source, "; its columns are ",
               QuotedList(cells.columns));
  }
}

double InputRows::VarianceOf(const Source& source, Index row) const {
  const double deviation = source.cell_std < 0 ? 0 : std_cells_(row, source.cell_std);
  return source.variance + deviation * deviation;
}

Moments InputRows::ReadInputs(const Matrix& cells, std::span<const Index> picked) const {
  Moments inputs;
  inputs.SetZero(static_cast<Index>(picked.size()), schema_.width());
  std::vector<char> plain(sources_.size());  // a number, whose variance is that of its column
  for (std::size_t s = 0; s < plain.size(); ++s) {
    const bool number = schema_.inputs[s].levels.empty() && schema_.inputs[s].parts.empty();
    plain[s] = number && sources_[s].cell_std < 0 ? 1 : 0;
  }
  for (std::size_t i = 0; i < picked.size(); ++i) {
    const Index n = picked[i];
    double* mean = &inputs.mean(static_cast<Index>(i), 0);
    double* var = &inputs.var(static_cast<Index>(i), 0);
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const Source& source = sources_[s];
      double value = cells(n, source.place);
      if (plain[s] != 0) {  // most are, and a large table has many cells
        const bool missing = std::isnan(value);
        *mean++ = missing ? kNaN : value;
        *var++ = missing ? kNaN : source.variance;
        continue;
      }
      const Index width = schema_.inputs[s].width();
      if (!source.levels.empty() && !std::isnan(value)) {
        const Index level = source.levels[static_cast<std::size_t>(value)];
        value = level < 0 ? kNaN : static_cast<double>(level);
      }
      const InputColumn& input = schema_.inputs[s];
      if (std::isnan(value)) {
        std::fill(mean, mean + width, kNaN);
        std::fill(var, var + width, kNaN);
      } else if (!input.parts.empty()) {
        for (Index k = 0; k < width; ++k)
          mean[k] = PartOfDate(input.parts[k], value, input.first_date);
        var[0] = VarianceOf(source, n);
      } else if (width > 1) {
        mean[static_cast<Index>(value)] = 1;  // of two levels, the number itself is the indicator
      } else {
        *mean = value;
        *var = VarianceOf(source, n);
      }
      mean += width;
      var += width;
    }
  }
  return inputs;
}

Dataset InputRows::Read(Index first, Index count) const {
  std::vector<Index> picked(static_cast<std::size_t>(count));
  std::iota(picked.begin(), picked.end(), first);
  DatasetParts parts = Pick(table_.values, picked);
  parts.notes = notes_;
  parts.table_rows = std::move(picked);
  return Dataset(std::move(parts));
}

DatasetParts InputRows::Pick(const Matrix& cells, std::span<const Index> rows) const {
  DatasetParts parts;
  parts.source = table_.source;
  parts.schema = schema_;
  parts.inputs = ReadInputs(cells, rows);
  parts.targets = has_targets() ? ReadTargets(cells, rows) : Matrix(std::ssize(rows), 0);
  return parts;
}

Dataset MakeDataset(const Table& table, const Schema& schema, const InputStd& std,
                    std::vector<Note> notes) {
  const InputRows reader(table, schema, std);
  RowPicker picker(table, schema, reader.target_places());
  std::vector<Index> picked;
  for (Index n = 0; n < table.values.rows(); ++n) {
    if (picker.Keep(table.values.row(n).data())) picked.push_back(n);
  }
  picker.Finish(&notes);
  DatasetParts parts = reader.Pick(table.values, picked);
  parts.notes = std::move(notes);
  parts.dropped_rows = picker.seen() - picker.kept();
  if (!schema.weights.empty()) {
    parts.weights = table.values.col(FindColumn(table, schema.weights))(picked);
    // Weights that are no counts say nothing about how much is known in all, so that on average a
    // row counts as one. (The largest first: their sum might overflow.)
    if (!schema.weights_are_counts) {
      parts.weights /= picker.largest_weight();
      parts.weights /= MeanInOrder(parts.weights);
    }
  }
  parts.table_rows = std::move(picked);
  return Dataset(std::move(parts));
}

Dataset MakeDataset(const Table& table, const Roles& roles, const InputStd& std) {
  std::vector<Note> notes;
  const Schema schema = MakeSchema(table, roles, &notes);
  return MakeDataset(table, schema, std, std::move(notes));
}

Dataset MakeDataset(const Table& table, const std::vector<std::string>& targets) {
  return MakeDataset(table, Roles{.targets = targets});
}

Dataset Subset(const Dataset& dataset, std::span<const Index> rows) {
  for (const Index row : rows) FATHOM_CHECK(row >= 0 && row < dataset.rows());
  const std::vector<Index> picked(rows.begin(), rows.end());
  DatasetParts parts;
  parts.source = dataset.source();
  parts.schema = dataset.schema();
  parts.inputs.mean = dataset.inputs().mean(picked, Eigen::all);
  parts.inputs.var = dataset.inputs().var(picked, Eigen::all);
  parts.targets = dataset.targets()(picked, Eigen::all);
  if (dataset.weights().size() > 0) parts.weights = dataset.weights()(picked);
  if (!dataset.table_rows().empty()) {
    for (const Index row : picked) parts.table_rows.push_back(dataset.table_rows()[row]);
  }
  return Dataset(std::move(parts));
}

}  // namespace fathom
