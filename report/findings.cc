#include "report/findings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fathom/data/input_range.h"
#include "fathom/evaluate/evaluation.h"

namespace fathom::report {

namespace {

bool HasTarget(const Matrix& targets, Index n) { return !targets.row(n).array().isNaN().all(); }

// The targets of rows beyond the training rows; those of others count as missing.
Matrix OnlyOutside(Matrix targets, const Vector& outside) {
  for (Index n = 0; n < targets.rows(); ++n) {
    if (outside[n] == 0) targets.row(n).setConstant(NAN);
  }
  return targets;
}

// The first `most` of the rows in the order of `less`; equal ones in the order of the table.
template <typename Row, typename Less>
std::vector<Row> First(std::vector<Row> rows, std::size_t most, const Less& less) {
  std::stable_sort(rows.begin(), rows.end(), less);
  rows.resize(std::min(most, rows.size()));
  return rows;
}

}  // namespace

Gatherer::Gatherer(const Model& model)
    : model_(model), numbers_(model.schema().has_classes() ? 0 : model.schema().targets.size()) {
  findings_.range_known = model.data().range.known();
  if (model.schema().has_classes()) {
    findings_.classes.emplace().target = model.schema().targets.front();
    return;
  }
  for (const std::string& target : model.schema().targets)
    findings_.numbers.emplace_back().target = target;
}

void Gatherer::Add(const TargetPrediction& prediction, const Dataset& rows,
                   const ThreadPool& pool) {
  const Matrix& targets = rows.targets();
  std::vector<Index> known;
  for (Index n = 0; n < rows.rows(); ++n) {
    if (HasTarget(targets, n)) known.push_back(n);
  }
  Vector outside = Vector::Zero(rows.rows());
  if (findings_.range_known && !known.empty()) {
    const Moments inputs{rows.inputs().mean(known, Eigen::all),
                         rows.inputs().var(known, Eigen::all)};
    outside(known) =
        CountOutside(model_.data().range, model_.schema(), inputs, &outside_of_column_);
  }
  findings_.outside += (outside.array() > 0).count();
  findings_.scored_rows += static_cast<Index>(known.size());
  if (const auto* classes = std::get_if<ClassPrediction>(&prediction)) {
    AddClasses(classes->probability, targets, outside);
  } else {
    AddNumbers(std::get<Prediction>(prediction), targets, outside, pool);
  }
  findings_.table_rows += rows.rows();
}

void Gatherer::AddNumbers(const Prediction& prediction, const Matrix& targets,
                          const Vector& outside, const ThreadPool& pool) {
  if (targets.cols() == 1) return AddTarget(0, prediction, targets, outside, pool);
  together_.Add(prediction, targets, pool);
  for (Index t = 0; t < targets.cols(); ++t)
    AddTarget(t, prediction, OnlyTarget(targets, t), outside, pool);
}

void Gatherer::AddTarget(Index target, const Prediction& prediction, const Matrix& own,
                         const Vector& outside, const ThreadPool& pool) {
  const Matrix parts = ScoreParts(prediction, own, pool);
  Both<ScoreSums>& sums = numbers_[static_cast<std::size_t>(target)];
  sums.all.AddParts(parts, own);
  sums.outside.AddParts(parts, OnlyOutside(own, outside));
  const Matrix mean = prediction.Mean();
  const RowQuantile low(prediction, 0.025);
  const RowQuantile high(prediction, 0.975);
  std::vector<NumberRow>& kept = findings_.numbers[static_cast<std::size_t>(target)].rows;
  const std::size_t before = kept.size();
  std::vector<Index> known;
  for (Index n = 0; n < own.rows(); ++n) {
    if (!std::isnan(own(n, target))) known.push_back(n);
  }
  kept.resize(before + known.size());
  pool.Run(static_cast<Index>(known.size()), [&](Index i) {
    const Index n = known[static_cast<std::size_t>(i)];
    kept[before + static_cast<std::size_t>(i)] = {
        .row = findings_.table_rows + n + 1,
        .target = own(n, target),
        .mean = mean(n, target),
        .low = low(n, target),
        .high = high(n, target),
        .log_density = prediction.LogDensity(n, own.row(n))};
  });
}

void Gatherer::AddClasses(const Matrix& probability, const Matrix& labels, const Vector& outside) {
  classes_.all.Add(probability, labels);
  classes_.outside.Add(probability, OnlyOutside(labels, outside));
  const std::vector<Index> predicted = PredictedClasses(probability);
  for (Index n = 0; n < labels.rows(); ++n) {
    if (std::isnan(labels(n, 0))) continue;
    const auto truth = static_cast<Index>(labels(n, 0));
    const Index guess = predicted[static_cast<std::size_t>(n)];
    findings_.classes->rows.push_back({.row = findings_.table_rows + n + 1,
                                       .truth = truth,
                                       .predicted = guess,
                                       .of_truth = probability(n, truth),
                                       .of_predicted = probability(n, guess)});
  }
}

Findings Gatherer::Finish() && {
  for (std::size_t c = 0; c < outside_of_column_.size(); ++c) {
    if (outside_of_column_[c] > 0)
      findings_.outside_columns.push_back(model_.schema().inputs[c].name);
  }
  if (findings_.classes) {
    findings_.classes->scores = classes_.all.Means();
    findings_.classes->reliability = classes_.all.Reliability();
    if (classes_.outside.rows() > 0) findings_.classes->outside = classes_.outside.Means();
    return std::move(findings_);
  }
  if (numbers_.size() > 1) findings_.together = together_.Means();
  for (std::size_t t = 0; t < numbers_.size(); ++t) {
    NumberFindings& own = findings_.numbers[t];
    if (own.rows.empty()) continue;
    own.scores = numbers_[t].all.Means();
    own.coverage = numbers_[t].all.Coverage();
    own.tenths = numbers_[t].all.Tenths();
    if (numbers_[t].outside.rows() > 0) own.outside = numbers_[t].outside.Means();
  }
  std::erase_if(findings_.numbers, [](const NumberFindings& own) { return own.rows.empty(); });
  return std::move(findings_);
}

std::vector<NumberRow> MostSurprising(std::vector<NumberRow> rows, std::size_t most) {
  return First(std::move(rows), most, [](const NumberRow& a, const NumberRow& b) {
    return a.log_density < b.log_density;
  });
}

std::vector<ClassRow> MostSurprising(std::vector<ClassRow> rows, std::size_t most) {
  return First(std::move(rows), most,
               [](const ClassRow& a, const ClassRow& b) { return a.of_truth < b.of_truth; });
}

std::vector<NumberRow> EvenlyByMean(std::vector<NumberRow> rows, std::size_t most) {
  const std::size_t count = rows.size();
  rows = First(std::move(rows), count,
               [](const NumberRow& a, const NumberRow& b) { return a.mean < b.mean; });
  if (count <= most) return rows;
  std::vector<NumberRow> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(rows[i * (count - 1) / (most - 1)]);
  return chosen;
}

}  // namespace fathom::report
