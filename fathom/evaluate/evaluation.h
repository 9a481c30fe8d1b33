// Scores of predictions, be the targets numbers or classes.
#ifndef FATHOM_EVALUATE_EVALUATION_H_
#define FATHOM_EVALUATE_EVALUATION_H_

#include <optional>
#include <variant>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/base/threads.h"
#include "fathom/distribution/target_prediction.h"
#include "fathom/evaluate/score_kinds.h"

namespace fathom FATHOM_PUBLIC {

using Evaluation = std::variant<Scores, ClassScores>;

// Scores of numbers for a density, scores of classes for probabilities. targets [N, D] are numbers,
// or [N, 1] the classes counted from 0; missing (NaN) ones are left out. Throws Error if
// the shapes differ or no row is left.
Evaluation Evaluate(const TargetPrediction& prediction, const Matrix& targets);

std::vector<NamedScore> NamedScores(const Evaluation& evaluation);
Index ScoredRows(const Evaluation& evaluation);
// Null where the targets are numbers.
inline const ClassScores* ClassScoresOf(const Evaluation& evaluation) {
  return std::get_if<ClassScores>(&evaluation);
}

// The same for rows that come in pieces; any pieces and any number of threads give the same bits.
class EvaluationSums {
 public:
  // The pieces must all be of the same kind. Throws Error if the shapes differ.
  void Add(const TargetPrediction& prediction, const Matrix& targets, const ThreadPool& pool);
  // The same from ScoreParts for numbers, or from probabilities for classes.
  void AddParts(bool classes, const Matrix& parts, const Matrix& targets);
  Index rows() const;  // with a target, so far
  // Throws Error if there is no row.
  Evaluation Means() const;

 private:
  std::variant<ScoreSums, ClassScoreSums> sums_;
};

// Over folds, each counting once. The standard error is the standard deviation of the folds' scores
// over the root of their number. Rows and confusions of the mean are sums.
struct FoldScores {
  std::vector<Evaluation> folds;
  Evaluation mean, standard_error;
  // Of each target where there are several: they may have different units, whose errors must not be
  // added.
  std::vector<FoldScores> of_target = {};
};
FoldScores SummarizeFolds(std::vector<Evaluation> folds);

// One of several targets [N, targets]: the others are NaN, which is not scored.
Matrix OnlyTarget(const Matrix& targets, Index target);
// The scores of all targets together and behind them, where they are several, of each.
std::vector<Evaluation> EvaluateEach(const TargetPrediction& prediction, const Matrix& targets);
// The same for rows that come in pieces. What is long to compute is apart from the sums, so that it
// can be done elsewhere.
class EachEvaluationSums {
 public:
  EachEvaluationSums(bool classes, Index targets);
  // A line of numbers for each row, which does not depend on the rows beside it.
  static Matrix Parts(const TargetPrediction& prediction, const Matrix& targets,
                      const ThreadPool& pool);
  void Add(const Matrix& parts, const Matrix& targets);
  Index rows() const { return sums_[0].rows(); }
  // All targets together, then each where they are several; nothing for one without a row.
  std::vector<std::optional<Evaluation>> Means() const;

 private:
  bool classes_;
  std::vector<EvaluationSums> sums_;
};

// From what EvaluateEach gave for every fold.
FoldScores SummarizeEach(const std::vector<std::vector<Evaluation>>& folds);

}  // namespace fathom

#endif  // FATHOM_EVALUATE_EVALUATION_H_
