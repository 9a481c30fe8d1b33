// Tables of scores as Markdown for people and as CSV for programs.
#ifndef FATHOM_STUDY_TABLE_TEXT_H_
#define FATHOM_STUDY_TABLE_TEXT_H_

#include <string>
#include <vector>

#include "study/score_table.h"

namespace fathom {

// "-2.402 ± 0.031": the error decides how many digits are shown.
std::string EstimateText(double mean, double error);
// The same of numbers that are known as they were printed, with at least two decimals.
std::string PublishedText(double mean, double error);

// Datasets down, methods across, mean ± standard error; the best of each row is bold. Then the mean
// ranks, what the marks mean, and Friedman's and Nemenyi's tests.
std::string MarkdownTable(const ScoreTable& table);
// One line per dataset and method.
std::string CsvTable(const ScoreTable& table);

// What the means of scores hide, for each method on each dataset: the worst split, coverage of the
// intervals, time and memory.
struct UnitSummary {
  std::string dataset, method;
  ScoreCell log_likelihood;
  Index catastrophes = 0;  // splits more than 1 nat below the median
  // Means over splits; coverage is NaN where the targets are classes.
  double coverage_50 = 0, coverage_95 = 0;
  double cpu_seconds = 0, peak_memory = 0;
};
// Sorted by dataset and method; units that only failed are left out.
std::vector<UnitSummary> SummarizeUnits(const std::vector<UnitRecord>& records);

// The same per method over all datasets, each counting once.
std::string MarkdownMethods(const std::vector<UnitSummary>& units);
// A row per method and dataset; a worst split more than 1 nat below the median is bold.
std::string MarkdownDetails(const std::vector<UnitSummary>& units);
std::string CsvDetails(const std::vector<UnitSummary>& units);

// All failures with their reasons; empty if there are none.
std::string MarkdownFailures(const std::vector<UnitRecord>& records);

}  // namespace fathom

#endif  // FATHOM_STUDY_TABLE_TEXT_H_
