// What kind of number a target is, by the values that it has in a table.
#ifndef FATHOM_DATA_TARGET_NATURE_H_
#define FATHOM_DATA_TARGET_NATURE_H_

#include <string>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/data/dataset_rows.h"

namespace fathom {

struct TargetNature {
  Index rows = 0, distinct = 0;
  double least = 0, most = 0, median = 0, sd = 0;
  // All values are least + k step with whole k, the steps are not small beside the spread, rows
  // share values, and these are whole numbers or few; 0: there are no such steps.
  double step = 0;
  bool whole = false;  // all are whole numbers
  // The value that most rows have.
  double common = 0;
  double common_share = 0;
  bool skewed = false;   // to the right
  bool bounded = false;  // fills the interval from 0 to 1, or to 100

  bool has_two_values() const { return distinct == 2; }
  bool is_count() const { return step > 0 && whole && least >= 0 && least < most - least; }
  // One value is so frequent, beside others, that it may be something of its own.
  bool has_frequent_value() const;
};

TargetNature NatureOf(const Eigen::Ref<const Vector>& target);

// "counts from 0 to 17, 62 % zeros".
std::string Describe(const TargetNature& nature);
// The same of each target of a dataset; none where the targets are classes. More than a million
// rows are described by an even sample and the range of all.
std::vector<std::string> DescribeTargets(const Dataset& dataset);
std::vector<std::string> DescribeTargets(const DatasetRows& rows);

}  // namespace fathom

#endif  // FATHOM_DATA_TARGET_NATURE_H_
