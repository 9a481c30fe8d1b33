#include "fathom/evaluate/evaluation.h"

#include <cmath>
#include <utility>

#include "fathom/base/error.h"

namespace fathom {

namespace {

void AddConfusion(const Scores&, Scores*) {}
void AddConfusion(const ClassScores& fold, ClassScores* sum) {
  if (sum->confusion.size() == 0) {
    sum->confusion = fold.confusion;
  } else {
    sum->confusion += fold.confusion;
  }
}

template <typename AnyScores>
void Summarize(FoldScores* result) {
  const auto count = static_cast<double>(result->folds.size());
  AnyScores mean, standard_error;
  for (const ScoreField<AnyScores>& field : ScoreFields<AnyScores>()) {
    const auto value = [&](const Evaluation& fold) {
      return std::get<AnyScores>(fold).*field.value;
    };
    double sum = 0;
    double squares = 0;
    for (const Evaluation& fold : result->folds) sum += value(fold);
    const double center = sum / count;
    for (const Evaluation& fold : result->folds)
      squares += (value(fold) - center) * (value(fold) - center);
    mean.*field.value = center;
    standard_error.*field.value = std::sqrt(squares / (count - 1) / count);
  }
  for (const Evaluation& fold : result->folds) {
    mean.rows += ScoredRows(fold);
    AddConfusion(std::get<AnyScores>(fold), &mean);
  }
  result->mean = std::move(mean);
  result->standard_error = std::move(standard_error);
}

}  // namespace

Evaluation Evaluate(const TargetPrediction& prediction, const Matrix& targets) {
  if (const auto* classes = std::get_if<ClassPrediction>(&prediction))
    return EvaluateClasses(classes->probability, targets);
  return Evaluate(std::get<Prediction>(prediction), targets);
}

std::vector<NamedScore> NamedScores(const Evaluation& evaluation) {
  return std::visit([](const auto& scores) { return NamedScores(scores); }, evaluation);
}

Index ScoredRows(const Evaluation& evaluation) {
  return std::visit([](const auto& scores) { return scores.rows; }, evaluation);
}

void EvaluationSums::Add(const TargetPrediction& prediction, const Matrix& targets,
                         const ThreadPool& pool) {
  if (const auto* classes = std::get_if<ClassPrediction>(&prediction)) {
    AddParts(true, classes->probability, targets);
  } else {
    AddParts(false, ScoreParts(std::get<Prediction>(prediction), targets, pool), targets);
  }
}

void EvaluationSums::AddParts(bool classes, const Matrix& parts, const Matrix& targets) {
  if (!classes) return std::get<ScoreSums>(sums_).AddParts(parts, targets);
  if (rows() == 0 && !std::holds_alternative<ClassScoreSums>(sums_)) sums_ = ClassScoreSums();
  std::get<ClassScoreSums>(sums_).Add(parts, targets);
}

Index EvaluationSums::rows() const {
  return std::visit([](const auto& sums) { return sums.rows(); }, sums_);
}

Evaluation EvaluationSums::Means() const {
  return std::visit([](const auto& sums) -> Evaluation { return sums.Means(); }, sums_);
}

FoldScores SummarizeFolds(std::vector<Evaluation> folds) {
  FATHOM_CHECK(!folds.empty());
  FoldScores result;
  result.folds = std::move(folds);
  if (ClassScoresOf(result.folds.front())) {
    Summarize<ClassScores>(&result);
  } else {
    Summarize<Scores>(&result);
  }
  return result;
}

Matrix OnlyTarget(const Matrix& targets, Index target) {
  Matrix own = Matrix::Constant(targets.rows(), targets.cols(), NAN);
  own.col(target) = targets.col(target);
  return own;
}

std::vector<Evaluation> EvaluateEach(const TargetPrediction& prediction, const Matrix& targets) {
  std::vector<Evaluation> scores = {Evaluate(prediction, targets)};
  for (Index t = 0; targets.cols() > 1 && t < targets.cols(); ++t)
    scores.push_back(Evaluate(prediction, OnlyTarget(targets, t)));
  return scores;
}

EachEvaluationSums::EachEvaluationSums(bool classes, Index targets)
    : classes_(classes), sums_(static_cast<std::size_t>(targets == 1 ? 1 : 1 + targets)) {}

Matrix EachEvaluationSums::Parts(const TargetPrediction& prediction, const Matrix& targets,
                                 const ThreadPool& pool) {
  if (const auto* classes = std::get_if<ClassPrediction>(&prediction)) return classes->probability;
  const auto& numbers = std::get<Prediction>(prediction);
  Matrix together = ScoreParts(numbers, targets, pool);
  if (targets.cols() == 1) return together;
  Matrix all(together.rows(), together.cols() * (1 + targets.cols()));
  all.leftCols(together.cols()) = together;
  for (Index t = 0; t < targets.cols(); ++t) {
    all.middleCols((1 + t) * together.cols(), together.cols()) =
        ScoreParts(numbers, OnlyTarget(targets, t), pool);
  }
  return all;
}

void EachEvaluationSums::Add(const Matrix& parts, const Matrix& targets) {
  const Index width = parts.cols() / static_cast<Index>(sums_.size());
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const auto number = static_cast<Index>(i);
    sums_[i].AddParts(classes_, parts.middleCols(number * width, width),
                      i == 0 ? targets : OnlyTarget(targets, number - 1));
  }
}

std::vector<std::optional<Evaluation>> EachEvaluationSums::Means() const {
  std::vector<std::optional<Evaluation>> means;
  for (const EvaluationSums& sums : sums_)
    means.push_back(sums.rows() > 0 ? std::optional(sums.Means()) : std::nullopt);
  return means;
}

FoldScores SummarizeEach(const std::vector<std::vector<Evaluation>>& folds) {
  FATHOM_CHECK(!folds.empty());
  std::vector<FoldScores> each;
  for (std::size_t i = 0; i < folds.front().size(); ++i) {
    std::vector<Evaluation> own;
    for (const auto& fold : folds) own.push_back(fold[i]);
    each.push_back(SummarizeFolds(std::move(own)));
  }
  FoldScores result = std::move(each.front());
  result.of_target.assign(each.begin() + 1, each.end());
  return result;
}

}  // namespace fathom
