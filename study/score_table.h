// Summarises the results of a study: methods by datasets for one score, with what others have
// published beside it.
#ifndef FATHOM_STUDY_SCORE_TABLE_H_
#define FATHOM_STUDY_SCORE_TABLE_H_

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/evaluate/score_kinds.h"
#include "study/ranks.h"
#include "study/unit_record.h"

namespace fathom {

struct PublishedValue {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();
  bool reachable = true;  // false: no honest test has come near it, before or since
};

// A method as somebody else has measured it.
struct PublishedMethod {
  std::string name;
  std::string source = {};
  bool same_splits = true;  // on our splits of the datasets
  bool deviations = false;  // its errors are standard deviations over splits, not standard errors
  // If it is not empty, the method stands only beside results of that study, which repeats it. It
  // is then not ranked.
  std::string study = {};
  // Found by ScoreKind::study_key and dataset.
  std::map<std::string, std::map<std::string, PublishedValue>> scores = {};
};

// One method on one dataset.
struct ScoreCell {
  double mean = std::numeric_limits<double>::quiet_NaN();   // over the splits that did not fail
  double error = std::numeric_limits<double>::quiet_NaN();  // standard error of the mean
  double worst = std::numeric_limits<double>::quiet_NaN();  // of the splits
  double median = std::numeric_limits<double>::quiet_NaN();
  Index splits = 0;  // that are there, failures not counted
  Index failures = 0;
  bool reachable = true;  // see PublishedValue

  bool has_value() const { return mean == mean; }
};

struct ScoreColumn {
  std::string name;
  std::optional<PublishedMethod> published;  // nothing for a method of ours
};

// Puts † behind the name of a published one, ‡ if it is on other splits.
std::string MarkedName(const ScoreColumn& column);

struct ScoreRow {
  std::string dataset;
  bool unseen = false;           // of the test rows that are not among the train rows; not ranked
  std::vector<ScoreCell> cells;  // [columns]

  Index splits() const;  // that our methods have at the most, failures included
  // Whether a cell stands for the whole dataset: published, or of ours on all these splits.
  bool IsWhole(const ScoreCell& cell) const {
    return cell.splits + cell.failures == 0 || cell.splits + cell.failures == splits();
  }
};

struct ScoreTable {
  ScoreKind kind;
  std::vector<ScoreColumn> columns;  // ours by name, then the published in their order
  std::vector<ScoreRow> rows;        // by dataset
};

// Published methods that have no value for any of the datasets, or that belong to a study of which
// there is no record, are left out.
ScoreTable MakeScoreTable(const std::vector<UnitRecord>& records,
                          const std::vector<PublishedMethod>& published, const ScoreKind& kind);

// The same with only these columns, in the table's order.
ScoreTable OnlyColumns(const ScoreTable& table, const std::vector<std::string>& names);

// The ranks of those columns that have a value, over all splits, on at least two thirds of the
// datasets, on the datasets where all of these have one. Published methods on other splits, or of a
// study, are not ranked; a method of ours that failed on a split ranks last there.
struct TableRanks {
  std::vector<std::size_t> columns;   // of the table
  std::vector<std::string> datasets;  // that count
  RankComparison comparison;
};
// Nothing if fewer than two methods or two datasets are left.
std::optional<TableRanks> RankTable(const ScoreTable& table);

}  // namespace fathom

#endif  // FATHOM_STUDY_SCORE_TABLE_H_
