#include "study/run_unit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>

#include "fathom/base/error.h"
#include "fathom/evaluate/evaluation.h"

namespace fathom {

namespace {

// Of this process and of the programs that it has run.
double CpuSeconds() {
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC + seconds(children.ru_utime) +
         seconds(children.ru_stime);
}

// The scores that studies record. The log likelihood, by which methods are ranked, stands first.
UnitScores RecordedScores(const Evaluation& evaluation) {
  std::vector<NamedScore> named = NamedScores(evaluation);
  std::stable_partition(named.begin(), named.end(), [](const NamedScore& score) {
    return score.kind->IsCalled("log_likelihood");
  });
  UnitScores scores{.rows = ScoredRows(evaluation), .values = {}};
  for (const auto& [kind, value] : named) {
    if (!kind->in_studies) continue;
    if (!std::isfinite(value)) {
      throw NumericalError(std::string("the score ") + kind->study_key + " is " +
                           std::to_string(value));
    }
    scores.values.emplace_back(kind->study_key, value);
  }
  return scores;
}

}  // namespace

UnitOutcome RunUnit(const SplitData& data, const Split& split, const Method& method) {
  const Dataset train = MakeDataset(TableRows(data.table, split.train), data.roles);
  const Table test_table = TableRows(data.table, split.held_out);
  const Dataset test = InputRows(test_table, train.schema()).Read();
  const double start = CpuSeconds();
  const std::unique_ptr<Predictor> predictor = method.Fit(train);
  double fitted = CpuSeconds();

  UnitOutcome outcome;
  const TargetPrediction prediction = predictor->Predict(test.inputs());
  if (predictor->LearnsWhenAsked()) fitted = CpuSeconds();
  outcome.scores = RecordedScores(Evaluate(prediction, test.targets()));
  const std::vector<Index> unseen = UnseenRows(data.table, split);
  if (!unseen.empty() && static_cast<Index>(unseen.size()) < test.rows()) {
    outcome.unseen =
        RecordedScores(Evaluate(Subset(prediction, unseen), test.targets()(unseen, Eigen::all)));
  }
  outcome.train_rows = train.rows();
  outcome.test_rows = test.rows();
  outcome.inputs = train.inputs().cols();
  outcome.findings = predictor->Findings();
  outcome.fit_seconds = std::round(1000 * (fitted - start)) / 1000;
  return outcome;
}

}  // namespace fathom
