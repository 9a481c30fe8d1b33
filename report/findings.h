// What a model says of rows whose targets are known, gathered for a report.
#ifndef FATHOM_REPORT_FINDINGS_H_
#define FATHOM_REPORT_FINDINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/data/dataset.h"
#include "fathom/distribution/target_prediction.h"
#include "fathom/evaluate/class_metrics.h"
#include "fathom/evaluate/metrics.h"
#include "fathom/fitted/model.h"

namespace fathom::report {

// Rows are counted from 1, as they stand in the table.
struct NumberRow {
  Index row = 0;
  double target = 0, mean = 0;
  double low = 0, high = 0;  // the ends of the 95 % interval
  double log_density = 0;
};

struct ClassRow {
  Index row = 0;
  Index truth = 0, predicted = 0;         // places in the schema's classes
  double of_truth = 0, of_predicted = 0;  // their probabilities
};

// Of one target that is a number.
struct NumberFindings {
  std::string target;
  Scores scores;
  std::optional<Scores> outside;  // of the rows beyond the training rows, if there are any
  Vector coverage, tenths;        // as ScoreSums has them
  std::vector<NumberRow> rows;    // that have this target
};

struct ClassFindings {
  std::string target;
  ClassScores scores;
  std::optional<ClassScores> outside;
  std::vector<ReliabilityBin> reliability;
  std::vector<ClassRow> rows;
};

struct Findings {
  Index table_rows = 0, scored_rows = 0;  // all, and those that have a target
  bool range_known = false;               // old models do not know the range of their inputs
  Index outside = 0;                      // rows with a target beyond the training rows
  std::vector<std::string> outside_columns;
  std::vector<NumberFindings> numbers;   // of each target that any row has
  std::optional<Scores> together;        // of several targets
  std::optional<ClassFindings> classes;  // instead of numbers
};

// Gathers rows that come in pieces, in the order of the table. Any pieces and any number of threads
// give the same bits.
class Gatherer {
 public:
  explicit Gatherer(const Model& model);

  void Add(const TargetPrediction& prediction, const Dataset& rows, const ThreadPool& pool);
  // Of the rows that have a target, so far.
  Index scored_rows() const { return findings_.scored_rows; }
  // Throws Error if there is none.
  Findings Finish() &&;

 private:
  template <typename Sums>
  struct Both {
    Sums all, outside;
  };

  void AddNumbers(const Prediction& prediction, const Matrix& targets, const Vector& outside,
                  const ThreadPool& pool);
  void AddTarget(Index target, const Prediction& prediction, const Matrix& own,
                 const Vector& outside, const ThreadPool& pool);
  void AddClasses(const Matrix& probability, const Matrix& labels, const Vector& outside);

  Model model_;
  Findings findings_;
  std::vector<Index> outside_of_column_;
  std::vector<Both<ScoreSums>> numbers_;  // [targets]
  ScoreSums together_;
  Both<ClassScoreSums> classes_;
};

// The `most` rows whose targets were least expected, the least expected first.
std::vector<NumberRow> MostSurprising(std::vector<NumberRow> rows, std::size_t most);
std::vector<ClassRow> MostSurprising(std::vector<ClassRow> rows, std::size_t most);

// At most so many rows, evenly chosen along the predicted value, which ascends.
std::vector<NumberRow> EvenlyByMean(std::vector<NumberRow> rows, std::size_t most);

}  // namespace fathom::report

#endif  // FATHOM_REPORT_FINDINGS_H_
