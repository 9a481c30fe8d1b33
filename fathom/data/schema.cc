#include "fathom/data/schema.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>
#include <string_view>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/bits.h"
#include "fathom/data/column_facts.h"
#include "fathom/data/role_error.h"
#include "fathom/data/written_date.h"
#include "fathom/data/written_number.h"

namespace fathom {

namespace {

constexpr std::size_t kMostCategories = 100;
constexpr Index kMostUniqueTexts = 20;  // in so few rows, strings that differ may yet be categories

// The roles of the columns of one table.
class SchemaMaker {
 public:
  SchemaMaker(const Table& table, const TableSurvey& survey, const SameColumns& same,
              const Roles& roles, std::vector<Note>* notes)
      : table_(table),
        survey_(survey),
        same_(same),
        roles_(roles),
        notes_(*notes),
        role_(table.columns.size(), nullptr) {}

  Schema Make() {
    if (survey_.rows == 0) ThrowError(table_.source, ": has no rows; add at least one");
    Schema schema;
    schema.unnamed_columns = table_.unnamed_columns;
    schema.missing = table_.missing;
    schema.weights_are_counts = roles_.weights_are_counts;
    for (const std::string& target : roles_.targets) {
      schema.targets.push_back(Assign(target, kTarget));
      if (table_.formats.empty()) continue;
      schema.target_formats.push_back(table_.FormatOf(FindColumn(table_, target)));
    }
    schema.classes = FindClasses(schema.targets);
    if (!roles_.weights.empty()) schema.weights = Assign(roles_.weights, kWeights);
    for (const std::string& name : roles_.ignore) {
      // A reader that was told to leave it out has done so already.
      if (std::count(table_.columns.begin(), table_.columns.end(), name) > 0)
        Assign(name, kIgnored);
    }
    LeaveOutIndex();
    LeaveOutIds();
    if (roles_.ignore_dates) LeaveOutDates();
    const std::vector<Index> remaining = RemainingColumns();
    if (remaining.empty()) {
      ThrowError(table_.source, ": no input columns are left beside the targets ",
                 QuotedList(schema.targets), "; add columns to predict from");
    }
    const std::vector<Index> kept = DistinctColumns(ColumnsThatVary(remaining));
    if (kept.empty()) {
      ThrowError(table_.source, ": the input columns have no two different values, from which",
                 " something could be learnt; add rows or columns");
    }
    for (const Index c : kept) {
      CheckUsable(c, false);
      schema.inputs.push_back(MakeInput(c));
    }
    return schema;
  }

 private:
  bool IsDate(Index c) const { return table_.FormatOf(c).kind == CellFormat::Kind::kDate; }

  InputColumn MakeInput(Index c) {
    InputColumn input{table_.columns[c], table_.LevelsOf(c), table_.FormatOf(c)};
    if (!IsDate(c)) return input;
    const DateSpan& dates = survey_.columns[c].dates;
    input.parts = UsefulParts(dates);
    input.first_date = dates.first;
    std::string parts = "days since " + internal::DateText(input.first_date);
    for (std::size_t k = 1; k < input.parts.size(); ++k) parts += ", " + NameOf(input.parts[k]);
    // The reader has told already how it read them.
    const std::string place = ": column " + Quoted(input.name) + ": ";
    for (Note& note : notes_) {
      if (note.kind == "format" && note.text.find(place) != std::string::npos)
        note.text += "; becomes " + parts;
    }
    return input;
  }

  // A column that R or pandas has put before the others, unless it was given a role.
  void LeaveOutIndex() {
    if (table_.index_column.empty()) return;
    const Index c = FindColumn(table_, table_.index_column);
    if (role_[c] != nullptr) return;
    role_[c] = kIgnored;
    notes_.push_back({"index_column", 1,
                      table_.source + ": left out the first column, which has no name: it numbers "
                                      "or names the rows; give it a name if it is an input"});
  }

  // Names, ids and remarks.
  void LeaveOutIds() {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < role_.size(); ++c) {
      if (role_[c] != nullptr || !TellsRowsApart(static_cast<Index>(c))) continue;
      role_[c] = kIgnored;
      names.push_back(table_.columns[c]);
    }
    AddNote("id_columns", names,
            "a text of its own in every row, such as a name or an id, says nothing about others");
  }

  // Whether no two rows have the same text. Numbers that were not read as such, and bits, could be
  // inputs: those are refused instead, and so is what the user has declared to be categories.
  bool TellsRowsApart(Index c) const {
    const ColumnFacts& facts = survey_.columns[c];
    if (facts.known <= kMostUniqueTexts || facts.cells_of_level.empty() || IsCategorical(c))
      return false;
    const auto repeats = [](Index cells) { return cells > 1; };
    return std::none_of(facts.cells_of_level.begin(), facts.cells_of_level.end(), repeats) &&
           UnitsOf(c).empty() && !LookLikeBits(table_.LevelsOf(c), {.missing = table_.missing});
  }

  bool IsCategorical(Index c) const {
    const auto& declared = roles_.categorical;
    return std::count(declared.begin(), declared.end(), table_.columns[c]) > 0;
  }

  void LeaveOutDates() {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < role_.size(); ++c) {
      if (role_[c] != nullptr || !IsDate(static_cast<Index>(c))) continue;
      role_[c] = kIgnored;
      names.push_back(table_.columns[c]);
    }
    AddNote("date_columns", names, "dates");
  }

  const std::string& Assign(const std::string& name, const char* role) {
    const Index c = FindColumn(table_, name);
    const std::string& column = table_.columns[c];
    if (role_[c] == role) {
      ThrowError(table_.source, ": column ", Quoted(column), " is named as ", role,
                 " twice; name it once");
    }
    if (role_[c] != nullptr) {
      ThrowError(table_.source, ": column ", Quoted(column), " is named as ", role_[c], " and as ",
                 role, "; give it one of the two");
    }
    const bool may_be_text = role == kIgnored || (role == kTarget && roles_.task != Task::kRegress);
    if (!table_.LevelsOf(c).empty() && !may_be_text) {
      const std::string fault = table_.source + ": column " + Quoted(column) + " is " + role +
                                " but holds text such as " + Quoted(table_.LevelsOf(c).front()) +
                                "; replace it by numbers";
      if (role == kTarget) throw RoleError(fault + ", or classify", "task", "");
      throw Error(fault);
    }
    if (IsDate(c) && role != kIgnored) {
      ThrowError(table_.source, ": column ", Quoted(column), " is ", role,
                 " but holds dates; replace them by numbers, such as days since a start");
    }
    role_[c] = role;
    return column;
  }

  // The classes of the target; none if the targets are numbers.
  std::vector<std::string> FindClasses(const std::vector<std::string>& targets) const {
    for (const std::string& target : targets) {
      const Index c = FindColumn(table_, target);
      const std::vector<std::string>& classes = table_.LevelsOf(c);
      const std::string place = table_.source + ": target column " + Quoted(target) + " ";
      if (classes.empty()) {
        if (roles_.task == Task::kClassify && survey_.columns[c].known > 0)
          ThrowError(place, "was read as numbers; read it as text, as ReadingFor does");
        continue;
      }
      if (targets.size() > 1) {
        ThrowError(place, "holds text such as ", Quoted(classes.front()), "; classes can be ",
                   "predicted for one target alone, not for ", targets.size());
      }
      if (classes.size() == 1) {
        ThrowError(place, "holds one class only, ", Quoted(classes.front()),
                   "; add rows of another class");
      }
      CheckUsable(c, true);
      return classes;
    }
    return {};
  }

  std::vector<Index> RemainingColumns() const {
    std::vector<Index> columns;
    for (std::size_t c = 0; c < role_.size(); ++c) {
      if (role_[c] == nullptr) columns.push_back(static_cast<Index>(c));
    }
    return columns;
  }

  void AddNote(const char* kind, const std::vector<std::string>& names, const char* what) {
    if (names.empty()) return;
    notes_.push_back({kind, static_cast<Index>(names.size()),
                      table_.source + ": left out " + (names.size() == 1 ? "column " : "columns ") +
                          QuotedList(names) + ": " + what});
  }

  std::vector<Index> ColumnsThatVary(const std::vector<Index>& columns) {
    std::vector<Index> kept;
    std::vector<std::string> empty, constant;
    for (const Index c : columns) {
      const ColumnFacts& facts = survey_.columns[c];
      if (facts.varies) {
        kept.push_back(c);
      } else {
        (facts.known == 0 ? empty : constant).push_back(table_.columns[c]);
      }
    }
    AddNote("empty_columns", empty, "no cell has a value");
    AddNote("constant_columns", constant, "the same value in all rows");
    return kept;
  }

  bool SameColumn(Index a, Index b) const {
    return table_.LevelsOf(a) == table_.LevelsOf(b) && same_(a, b);
  }

  std::vector<Index> DistinctColumns(const std::vector<Index>& columns) {
    std::multimap<std::uint64_t, Index> seen;
    std::vector<Index> kept;
    std::vector<std::string> repeats;
    for (const Index c : columns) {
      const std::uint64_t hash = survey_.columns[c].hash;
      const auto [begin, end] = seen.equal_range(hash);
      const auto same =
          std::find_if(begin, end, [&](const auto& entry) { return SameColumn(entry.second, c); });
      if (same != end) {
        repeats.push_back(table_.columns[c]);
        continue;
      }
      seen.emplace(hash, c);
      kept.push_back(c);
    }
    AddNote("duplicate_columns", repeats,
            repeats.size() == 1 ? "it repeats another column" : "they repeat other columns");
    return kept;
  }

  // Throws for text columns that make no categories.
  void CheckUsable(Index c, bool is_target) const {
    const std::vector<std::string>& levels = table_.LevelsOf(c);
    if (levels.empty()) return;
    const std::string& name = table_.columns[c];
    const std::string place = table_.source + ": column " + Quoted(name) + ": ";
    const auto refuse = [&](const auto&... parts) {
      std::ostringstream fault;
      fault << place;
      (fault << ... << parts);
      if (is_target) ThrowError(fault.str(), "choose another target");
      throw RoleError(fault.str() + "leave it out", "ignore",
                      name.find(' ') == std::string::npos ? name : Quoted(name));
    };
    RefuseMixedUnits(c);
    const Index rows = survey_.columns[c].known;
    if (rows > kMostUniqueTexts && 10 * static_cast<Index>(levels.size()) > 9 * rows) {
      refuse("has a text of its own in nearly every row, such as ", Quoted(levels.front()),
             "; a name or an id says nothing about other rows: ");
    }
    if (levels.size() > kMostCategories) {
      const bool more = levels.size() > Table::kMostLevels;
      refuse("has ", more ? "more than " : "", levels.size() - (more ? 1 : 0),
             " different values, such as ", Quoted(levels.front()), "; at most ", kMostCategories,
             " can be categories: group them, or ");
    }
    for (const std::string& level : levels) {
      if (!IsUtf8(level))
        ThrowError(place, "text ", Quoted(level), " is not UTF-8; save the file as UTF-8");
    }
  }

  // The units of a text column, with an example of each; none if one of them is no number.
  std::map<std::string, std::string> UnitsOf(Index c) const {
    std::map<std::string, std::string> level_of_unit;
    for (const std::string& level : table_.LevelsOf(c)) {
      internal::WrittenNumber number;
      if (!internal::ReadWrittenNumber(level, '.', &number) &&
          !internal::ReadWrittenNumber(level, ',', &number))
        return {};
      level_of_unit.emplace(number.affix, level);
    }
    return level_of_unit;
  }

  // Numbers, but not all in the same unit, would make poor categories.
  void RefuseMixedUnits(Index c) const {
    if (IsCategorical(c)) return;
    const std::string& name = table_.columns[c];
    const std::map<std::string, std::string> level_of_unit = UnitsOf(c);
    if (level_of_unit.size() < 2) return;
    throw RoleError(table_.source + ": column " + Quoted(name) + ": holds numbers in different " +
                        "units, such as " + Quoted(level_of_unit.begin()->second) + " and " +
                        Quoted(std::next(level_of_unit.begin())->second) +
                        "; write them in one unit, or declare it categorical",
                    "categorical", name);
  }

  // Compared by their addresses.
  static constexpr const char kTarget[] = "a target";
  static constexpr const char kWeights[] = "the weights";
  static constexpr const char kIgnored[] = "a column to ignore";
  const Table& table_;  // whose rows may be elsewhere
  const TableSurvey& survey_;
  const SameColumns& same_;
  const Roles& roles_;
  std::vector<Note>& notes_;
  std::vector<const char*> role_;  // [columns], null: an input
};

}  // namespace

Index Schema::width() const {
  Index total = 0;
  for (const InputColumn& input : inputs) total += input.width();
  return total;
}

std::vector<std::string> Schema::FeatureNames() const {
  std::vector<std::string> names;
  for (const InputColumn& input : inputs) {
    if (input.levels.empty() && input.parts.empty()) names.push_back(input.name);
    for (const DatePart part : input.parts) names.push_back(input.name + " (" + NameOf(part) + ")");
    for (std::size_t k = input.levels.size() == 2 ? 1 : 0; k < input.levels.size(); ++k)
      names.push_back(input.name + "=" + input.levels[k]);
  }
  return names;
}

Schema NumericSchema(const std::vector<std::string>& inputs,
                     const std::vector<std::string>& targets) {
  Schema schema;
  for (const std::string& name : inputs) schema.inputs.push_back({.name = name});
  schema.targets = targets;
  return schema;
}

bool SameCells(const Matrix& rows, Index a, Index b) {
  for (Index n = 0; n < rows.rows(); ++n) {
    const double x = rows(n, a), y = rows(n, b);
    if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

Schema MakeSchema(const Table& head, const TableSurvey& survey, const SameColumns& same,
                  const Roles& roles, std::vector<Note>* notes) {
  notes->insert(notes->end(), head.notes.begin(), head.notes.end());
  return SchemaMaker(head, survey, same, roles, notes).Make();
}

Schema MakeSchema(const Table& table, const Roles& roles, std::vector<Note>* notes) {
  const auto same = [&](Index a, Index b) { return SameCells(table.values, a, b); };
  return MakeSchema(table, SurveyOf(table), same, roles, notes);
}

ReadOptions ReadingFor(const Roles& roles, ReadOptions options) {
  options.ignore = roles.ignore;
  options.text = roles.categorical;
  if (roles.task == Task::kRegress) options.numbers = roles.targets;
  if (roles.task == Task::kClassify)
    options.text.insert(options.text.end(), roles.targets.begin(), roles.targets.end());
  if (!roles.weights.empty()) options.numbers.push_back(roles.weights);
  return options;
}

ReadOptions ReadingFor(const Schema& schema, ReadOptions options, bool targets_may_be_anything) {
  options.missing.insert(options.missing.end(), schema.missing.begin(), schema.missing.end());
  std::vector<std::string> inputs, all;
  for (const InputColumn& input : schema.inputs) {
    options.only.push_back({input.name, !input.levels.empty(), input.format});
    inputs.push_back(input.name);
  }
  for (std::size_t t = 0; t < schema.targets.size(); ++t) {
    options.only.push_back({schema.targets[t], schema.has_classes(), schema.FormatOfTarget(t),
                            targets_may_be_anything});
  }
  for (Index c = 1; c <= schema.unnamed_columns; ++c)
    all.push_back(UnnamedColumn(static_cast<std::size_t>(c)));
  if (!all.empty()) options.names.push_back(all);
  options.names.push_back(inputs);
  return options;
}

}  // namespace fathom
