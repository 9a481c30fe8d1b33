// Every score once: what it is called, what it means and which way is better. JSON, text, the
// results of studies and their tables take names and order from these lists.
#ifndef FATHOM_EVALUATE_SCORE_KINDS_H_
#define FATHOM_EVALUATE_SCORE_KINDS_H_

#include <span>
#include <string_view>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/evaluate/class_metrics.h"
#include "fathom/evaluate/metrics.h"

namespace fathom FATHOM_PUBLIC {

enum class Better {
  kLarger,
  kSmaller,
  kOnTarget,  // a coverage should be what it promises
};

struct ScoreKind {
  const char* key;      // "mean_log_likelihood": in JSON and text
  const char* meaning;  // one line for people
  Better better;
  bool in_studies;        // whether studies record it
  const char* study_key;  // "log_likelihood": in results of studies and what others published
  // Scores with tables of their own have these: "RMSE" in a line, "Test RMSE" above the table.
  const char* label = "";
  const char* heading = "";

  bool larger_is_better() const { return better == Better::kLarger; }
  bool IsCalled(std::string_view name) const { return name == key || name == study_key; }
};

// A score and where AnyScores (Scores, ClassScores) holds it.
template <typename AnyScores>
struct ScoreField : ScoreKind {
  double AnyScores::*value;
};

// All scores of AnyScores, in the order in which they are shown.
template <typename AnyScores>
std::span<const ScoreField<AnyScores>> ScoreFields();
template <>
std::span<const ScoreField<Scores>> ScoreFields();
template <>
std::span<const ScoreField<ClassScores>> ScoreFields();

struct NamedScore {
  const ScoreKind* kind;
  double value;
};
template <typename AnyScores>
std::vector<NamedScore> NamedScores(const AnyScores& scores) {
  std::vector<NamedScore> named;
  for (const ScoreField<AnyScores>& field : ScoreFields<AnyScores>())
    named.push_back({&field, scores.*field.value});
  return named;
}

// The score that is called so by either of its names, or null. Where numbers and classes share a
// name, the kinds differ in their meaning only, and this is the one of numbers.
const ScoreKind* FindScore(std::string_view name);
// The scores of which studies make tables, the most important first.
std::vector<const ScoreKind*> TabledScores();

}  // namespace fathom

#endif  // FATHOM_EVALUATE_SCORE_KINDS_H_
