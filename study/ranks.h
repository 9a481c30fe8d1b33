// Comparison of several methods over several datasets by their ranks, as Demšar (2006, JMLR 7)
// recommends: Friedman's test whether they differ at all, Nemenyi's for which pairs do.
#ifndef FATHOM_STUDY_RANKS_H_
#define FATHOM_STUDY_RANKS_H_

#include "fathom/base/types.h"

namespace fathom {

// [datasets, methods]: 1 for the best score of each row; methods with the same score share the mean
// of their ranks. Infinite scores are fine; throws Error for NaN.
Matrix RankRows(const Matrix& scores, bool larger_is_better);

struct RankComparison {
  Vector mean;            // [methods], over datasets
  Vector standard_error;  // of that mean: the deviation over datasets by the root of their number
  double chi_square = 0;  // Friedman's statistic  [friedman]
  // Iman and Davenport's, which is less conservative: F with k - 1 and (k - 1)(N - 1) degrees of
  // freedom; infinite if all datasets agree on the order.
  double f = 0;
  double p_value = 1;  // of f, if the methods do not differ
  // Two methods differ at the level 0.05 if their mean ranks differ by at least this.  [nemenyi]
  double critical_difference = 0;
};

// Throws Error unless there are at least two methods and two datasets.
RankComparison CompareRanks(const Matrix& ranks);

// The critical value of Nemenyi's test at the level 0.05: the upper 5 % point of the range of k
// standard normals, over the root of 2. Accurate to 1e-9; methods >= 2.
double NemenyiCriticalValue(Index methods);

}  // namespace fathom

#endif  // FATHOM_STUDY_RANKS_H_
